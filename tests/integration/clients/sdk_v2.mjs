// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK, version 2: job.mode is "legacy", "auto" or a revision to pin.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run } from './driver.mjs';

await run(async (job) => {
  const mode = job.mode === 'legacy' || job.mode === 'auto' ? job.mode : { pin: job.mode };
  const transport = job.transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(job.url), { authProvider: { token: async () => job.token } })
    : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: job.env });
  const client = new Client({ name: 'kbgate-tests-v2', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { client, version: () => client.getNegotiatedProtocolVersion() };
});
