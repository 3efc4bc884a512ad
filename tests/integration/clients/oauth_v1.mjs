// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK, version 1, that has no token yet: job.token is the JSON of its client credentials,
// {"clientId", "clientSecret", "scope", "expectedIssuer"}. See driver.mjs for the rest.
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run } from './driver.mjs';

await run(async (job) => {
  const authProvider = new ClientCredentialsProvider(JSON.parse(job.token));
  const transport = new StreamableHTTPClientTransport(new URL(job.url), { authProvider });
  const client = new Client({ name: 'kbgate-tests-oauth-v1', version: '1' });
  await client.connect(transport);
  return { client, version: () => transport.protocolVersion ?? null };
});
