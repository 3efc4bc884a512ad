// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK, version 1: the initialize handshake only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run } from './driver.mjs';

await run(async (job) => {
  let version = null;
  const transport = job.transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers: { Authorization: `Bearer ${job.token}` } } })
    : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: job.env });
  // Every transport is told the negotiated version; the one over pipes keeps no record of it.
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (v) => { version = v; tell?.(v); };
  const client = new Client({ name: 'kbgate-tests-v1', version: '1' });
  await client.connect(transport);
  return { client, version: () => version };
});
