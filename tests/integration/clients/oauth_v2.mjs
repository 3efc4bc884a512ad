// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK, version 2, that has no token yet: job.token is the JSON of its client credentials,
// {"clientId", "clientSecret", "expectedIssuer"}. See driver.mjs for the rest.
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { run } from './driver.mjs';

await run(async (job) => {
  const mode = job.mode === 'legacy' || job.mode === 'auto' ? job.mode : { pin: job.mode };
  const authProvider = new ClientCredentialsProvider(JSON.parse(job.token));
  const client = new Client({ name: 'kbgate-tests-oauth-v2', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(job.url), { authProvider }));
  return { client, version: () => client.getNegotiatedProtocolVersion() };
});
