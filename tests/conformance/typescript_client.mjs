import { writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

// node typescript_client.mjs VAULT http URL | VAULT stdio COMMAND ARGUMENT…: one call of each kind, and what came of it.
const [vault, kind, ...where] = process.argv.slice(2);
const transport = kind === "http"
  ? new StreamableHTTPClientTransport(new URL(where[0]))
  : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: "ignore" });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);
const text = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return [Boolean(result.isError), result.content.map((part) => part.text ?? part.mimeType).join("\n")];
};
let rows;
do { rows = await text("cypher_query", { query: "MATCH (b:Boat) RETURN b.title AS boat ORDER BY boat" }); }
while (rows[1].includes("being built"));
const updated = new Promise((resolve) =>
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => resolve(note.params.uri)));
await client.subscribeResource({ uri: "vault://Home.md" });
writeFileSync(`${vault}/Home.md`, "saved by the client's side");
const uri = await updated;
const stopped = new AbortController();
const slow = client.callTool({ name: "cypher_query", arguments: { query:
  "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)", timeout_ms: 0 } },
  undefined, { signal: stopped.signal });
stopped.abort("enough");
const cancelled = await slow.then(() => false, () => true);
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  instructions: client.getInstructions().length > 0,
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  rows, wrong: await text("cypher_query", { query: "RETRUN 1" }),
  image: await text("fetch_images", { items: ["selkie.png"] }),
  resources: (await client.listResources()).resources.map((one) => one.uri),
  template: (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
  note: (await client.readResource({ uri: "vault://Boats/Selkie.md" })).contents[0].mimeType,
  completion: (await client.complete({ ref: { type: "ref/resource", uri: "vault://{+path}" },
    argument: { name: "path", value: "boats/s" } })).completion.values,
  prompts: (await client.listPrompts()).prompts.length > 0,
  updated: uri, cancelled, pong: (await text("ping", {}))[1].startsWith("pong"),
}));
await client.close();
