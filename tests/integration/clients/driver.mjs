// SPDX-License-Identifier: Apache-2.0
// What the Node.js drivers share. A driver reads one JSON object from standard input,
//   {"transport": "http" | "stdio", "url", "token", "command": […], "env": {…}, "mode", "steps": [[method, …], …]}
// and prints {"version", "server", "results": […]}: for each step its result, or {"raised": …}.

export async function run(connect) {
  let input = '';
  for await (const piece of process.stdin) input += piece;
  const job = JSON.parse(input);
  const { client, version } = await connect(job);
  const results = [];
  for (const step of job.steps) {
    try {
      results.push(await perform(client, step));
    } catch (error) {
      results.push({ raised: { kind: error.constructor.name, code: error.code ?? null, message: String(error.message), data: error.data ?? null } });
    }
  }
  const out = { version: version(), server: client.getServerVersion() ?? null, results };
  await client.close();
  process.stdout.write(JSON.stringify(out) + '\n');
}

function perform(client, [method, ...args]) {
  switch (method) {
    case 'tools/list': return client.listTools();
    case 'tools/call': return client.callTool({ name: 'search_kb', arguments: args[0] });
    case 'resources/list': return client.listResources();
    case 'resources/templates/list': return client.listResourceTemplates();
    case 'resources/read': return client.readResource({ uri: args[0] });
    case 'prompts/list': return client.listPrompts();
    case 'prompts/get': return client.getPrompt({ name: args[0], arguments: args[1] });
    default: throw new Error(`no step ${method}`);
  }
}
