/** Spec 07 section 6: credentials of the existing product in an imported service (hazards I10 and I11). */
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, testServer } from '../../support/api.ts';
import { importedFrom } from '../../support/imported-databases.ts';
import { compareRefusal } from '../../support/refusal-recorder.ts';
import { testApp } from '../../support/test-app.ts';
import { serverUrl } from '../../support/test-database.ts';

test.skipIf(!serverUrl)('sessions and API tokens go on over HTTP (left out without a server: TEST_DATABASE_URL)', async () => {
  const imported = await importedFrom(['--version', 'v4', '--users', '60']);
  onTestFinished(() => imported.drop());
  const { app, clock, database, made } = imported;
  const client = clientOf(await testServer(app, compareRefusal));
  const [session] = made.credentials.refresh_tokens;
  const refreshed = await client.post('/cabinet/auth/refresh', { refresh_token: session!.token });
  expect(refreshed).toMatchObject({ status: 200, body: { refresh_token: session!.token } });
  for (const { token, works_with, active } of made.credentials.api_tokens) {
    const { app: keyed } = await testApp({ database, environment: works_with, clock });
    const reply = await clientOf(await testServer(keyed, compareRefusal)).get('/tickets', {
      headers: { 'x-api-key': token },
    });
    expect([token.slice(0, 4), reply.status]).toEqual([token.slice(0, 4), active ? 200 : 401]);
  }
});
