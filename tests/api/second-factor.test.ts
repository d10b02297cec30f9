import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts';
import { hashPassword } from '../../src/core/password-hasher.ts';
import { resetSecondFactor } from '../../src/domain/identity/second-factor/account-factors.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { codeOf } from '../support/authenticator-app.ts';
import { initDataOf } from '../support/init-data.ts';
import { TestPasskey } from '../support/passkey.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/auth/second-factor';
const PASSWORD = 'correct horse battery';

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { SECOND_FACTOR_FOR: 'staff', TRUSTED_PROXIES: '127.0.0.1' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());
beforeEach(async () => {
  admin = await adminClient(t.app, server, ['*:*'], 900);
});

let clients = 0;
/** With an address that no other test has attempts from. */
function from(token?: string): ApiClient {
  clients += 1;
  const address = { 'x-forwarded-for': `203.0.${Math.floor(clients / 250)}.${(clients % 250) + 1}` };
  return clientOf(server, token === undefined ? address : { ...address, authorization: `Bearer ${token}` });
}

/** The next code of the app: each counts once. */
function nextCode(secret: string): string {
  t.clock.advance(30 * SECOND_MS);
  return codeOf(secret, t.clock);
}

async function addTotp(owner: ApiClient, name = 'Phone') {
  const begun = await owner.post(`${BASE}/totp`, { name });
  expect(begun).toMatchObject({ status: 200, body: { uri: expect.stringContaining('otpauth://totp/') } });
  const { secret } = begun.body as { secret: string };
  const added = await owner.post(`${BASE}/totp/confirm`, { code: nextCode(secret) });
  expect(added.status).toBe(200);
  return { secret, ...(added.body as { factor: { id: number }; recovery_codes: string[]; access_token: string }) };
}

async function addPasskey(owner: ApiClient, passkey = new TestPasskey()) {
  const options = await owner.post(`${BASE}/passkeys/options`);
  const added = await owner.post(`${BASE}/passkeys`, { name: 'Key', response: passkey.create(options.body) });
  expect(added.status).toBe(200);
  return { passkey, ...(added.body as { factor: { id: number }; recovery_codes: string[]; access_token: string }) };
}

const firstPart = (user = admin.user) => from().post('/cabinet/auth/messenger', { init_data: initDataOf(t, user) });
async function aTicket(user = admin.user): Promise<string> {
  const reply = await firstPart(user);
  expect(reply.status).toBe(403);
  return reply.body.detail.ticket;
}
const secondPart = (ticket: string, form: object) => from().post(`${BASE}/sign-in`, { ticket, ...form });

const REFUSED = { status: 403, body: { detail: 'The code or passkey is not valid' } };

describe('an authenticator app', () => {
  it('is asked for at the next sign-in, and completes it', async () => {
    const { secret } = await addTotp(admin);
    expect(await firstPart()).toMatchObject({
      status: 403,
      body: { detail: { code: 'second_factor_required', methods: ['totp', 'recovery_code'], expires_in: 300 } },
    });
    const ticket = await aTicket();
    const signIn = await secondPart(ticket, { code: nextCode(secret), rotate_refresh_token: true });
    expect(signIn).toMatchObject({ status: 200, body: { user: { id: admin.user.id } } });
    expect((await from(signIn.body.access_token).get(BASE)).body).toMatchObject({ is_shown: true, recovery_codes_left: 10 });
    expect((await secondPart(ticket, { code: nextCode(secret) })).status).toBe(401);
  });

  it('gives codes that count once, of this step and one beside it', async () => {
    const { secret } = await addTotp(admin);
    const code = nextCode(secret);
    expect((await secondPart(await aTicket(), { code })).status).toBe(200);
    expect(await secondPart(await aTicket(), { code })).toMatchObject(REFUSED);
    t.clock.advance(60 * SECOND_MS);
    expect((await secondPart(await aTicket(), { code: codeOf(secret, t.clock, -1) })).status).toBe(200);
    t.clock.advance(120 * SECOND_MS);
    expect(await secondPart(await aTicket(), { code: codeOf(secret, t.clock, -2) })).toMatchObject(REFUSED);
    expect(await secondPart(await aTicket(), { code: codeOf(secret, t.clock, 2) })).toMatchObject(REFUSED);
    expect((await secondPart(await aTicket(), { code: codeOf(secret, t.clock, 1) })).status).toBe(200);
  });

  it('counts only once a code of it was entered', async () => {
    const begun = await admin.post(`${BASE}/totp`, { name: 'Never' });
    expect((await firstPart()).status).toBe(200);
    expect(await admin.post(`${BASE}/totp/confirm`, { code: codeOf(begun.body.secret, t.clock, 5) })).toMatchObject(REFUSED);
    const again = await admin.post(`${BASE}/totp`, { name: 'Phone' });
    expect(await admin.post(`${BASE}/totp/confirm`, { code: codeOf(begun.body.secret, t.clock) })).toMatchObject(REFUSED);
    expect((await admin.post(`${BASE}/totp/confirm`, { code: codeOf(again.body.secret, t.clock) })).status).toBe(200);
    expect((await admin.get(BASE)).body.factors).toMatchObject([{ kind: 'totp', name: 'Phone' }]);
  });

  it('is stored so that a copy of the database gives no codes', async () => {
    const { secret } = await addTotp(admin);
    const [row] = await t.app.db.sql<{ secret: string }>('SELECT secret FROM second_factors WHERE user_id = $1::int', [
      admin.user.id,
    ]);
    expect(row!.secret).not.toContain(secret);
    const other = await testApp({ environment: { SECOND_FACTOR_FOR: 'staff', CABINET_JWT_SECRET: 'x'.repeat(40) } });
    const otherServer = await testServer(other.app);
    other.clock.set(t.clock.now());
    const client = clientOf(otherServer);
    const begun = await client.post('/cabinet/auth/messenger', { init_data: initDataOf(t, admin.user) });
    const reply = await client.post(`${BASE}/sign-in`, { ticket: begun.body.detail.ticket, code: nextCode(secret) });
    expect(reply).toMatchObject(REFUSED);
    await otherServer.close();
  });
});

describe('a passkey', () => {
  const signed = async (passkey: TestPasskey, ticket: string) => {
    const options = await from().post(`${BASE}/sign-in/challenge`, { ticket });
    expect(options.body.allowCredentials).toMatchObject([{ id: passkey.id }]);
    return secondPart(ticket, { passkey: passkey.get(options.body) });
  };

  it('completes a sign-in, each signature once', async () => {
    const { passkey } = await addPasskey(admin);
    expect((await firstPart()).body.detail.methods).toEqual(['passkey', 'recovery_code']);
    expect((await signed(passkey, await aTicket())).status).toBe(200);
    const ticket = await aTicket();
    const options = await from().post(`${BASE}/sign-in/challenge`, { ticket });
    const answer = passkey.get(options.body);
    expect((await secondPart(ticket, { passkey: answer })).status).toBe(200);
    expect(await secondPart(await aTicket(), { passkey: answer })).toMatchObject(REFUSED);
  });

  it('is refused when its counter goes back: a copy has signed', async () => {
    const { passkey } = await addPasskey(admin);
    passkey.count = 7;
    expect((await signed(passkey, await aTicket())).status).toBe(200);
    passkey.count = 3;
    expect(await signed(passkey, await aTicket())).toMatchObject(REFUSED);
  });

  it('is refused for the challenge of another sign-in, of another account, and of another site', async () => {
    const { passkey } = await addPasskey(admin);
    const [one, other] = [await aTicket(), await aTicket()];
    const options = await from().post(`${BASE}/sign-in/challenge`, { ticket: one });
    await from().post(`${BASE}/sign-in/challenge`, { ticket: other });
    expect(await secondPart(other, { passkey: passkey.get(options.body) })).toMatchObject(REFUSED);
    const thief = await adminClient(t.app, server, ['*:*'], 900);
    const stolenWith = await addPasskey(thief);
    const ticket = await aTicket();
    const stolen = await from().post(`${BASE}/sign-in/challenge`, { ticket });
    expect(await secondPart(ticket, { passkey: stolenWith.passkey.get(stolen.body) })).toMatchObject(REFUSED);
    const begun = await admin.post(`${BASE}/passkeys/options`);
    const fake = new TestPasskey('https://cabinet.example.org').create(begun.body);
    expect(await from(admin.accessToken).post(`${BASE}/passkeys`, { name: 'Fake', response: fake })).toMatchObject({
      status: 403,
    });
  });

  it('belongs to one account', async () => {
    const { passkey } = await addPasskey(admin);
    const other = await adminClient(t.app, server, ['*:*'], 900);
    const options = await other.post(`${BASE}/passkeys/options`);
    const reply = await other.post(`${BASE}/passkeys`, { name: 'Same', response: passkey.create(options.body) });
    expect(reply).toMatchObject({ status: 409, body: { detail: 'This passkey belongs to an account already' } });
    const wrong = await other.post(`${BASE}/passkeys`, { name: 'Old', response: new TestPasskey().create(options.body) });
    expect(wrong).toMatchObject({ status: 400, body: { detail: 'The passkey was not accepted' } });
  });
});

describe('recovery codes', () => {
  it('complete a sign-in, each once, however they are typed', async () => {
    const { recovery_codes: codes } = await addTotp(admin);
    expect(new Set(codes).size).toBe(10);
    const typed = codes[0]!.toUpperCase().replace('-', ' ');
    expect((await secondPart(await aTicket(), { recovery_code: typed })).status).toBe(200);
    expect(await secondPart(await aTicket(), { recovery_code: codes[0] })).toMatchObject(REFUSED);
    const rows = await t.app.db.sql<{ codeHash: string }>('SELECT code_hash FROM recovery_codes WHERE user_id = $1::int', [
      admin.user.id,
    ]);
    expect(rows.map(({ codeHash }) => codeHash)).not.toContain(codes[1]);
  });

  it('are replaced by others', async () => {
    expect(await admin.post(`${BASE}/recovery-codes`)).toMatchObject({
      status: 409,
      body: { detail: 'Add a second factor first' },
    });
    const { recovery_codes: codes, access_token: token } = await addTotp(admin);
    const renewed = await from(token).post(`${BASE}/recovery-codes`);
    expect(renewed.body.recovery_codes).toHaveLength(10);
    expect(await secondPart(await aTicket(), { recovery_code: codes[0] })).toMatchObject(REFUSED);
    expect((await secondPart(await aTicket(), { recovery_code: renewed.body.recovery_codes[0] })).status).toBe(200);
  });
});

describe('attempts', () => {
  it('are limited by account, whichever ticket and address they come with', async () => {
    const { secret } = await addTotp(admin);
    // Before the attempts, because it advances the clock, and attempts are counted in fixed windows.
    const code = nextCode(secret);
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await secondPart(await aTicket(), { code: '000000' })).toMatchObject(REFUSED);
    expect((await secondPart(await aTicket(), { code })).status).toBe(429);
  });

  it('of one address are limited', async () => {
    const client = from();
    for (let attempt = 0; attempt < 10; attempt += 1) await client.post(`${BASE}/sign-in/challenge`, { ticket: 'x'.repeat(43) });
    expect((await client.post(`${BASE}/sign-in/challenge`, { ticket: 'x'.repeat(43) })).status).toBe(429);
  });

  it('need exactly one form', async () => {
    const ticket = 'x'.repeat(43);
    for (const form of [{}, { code: '123456', recovery_code: 'abcdefgh' }, { code: '12345' }])
      expect((await secondPart(ticket, form)).status).toBe(422);
    expect((await secondPart(ticket, { code: '123456' })).status).toBe(401);
    expect((await from().post(`${BASE}/sign-in/challenge`, { ticket })).status).toBe(401);
  });

  it('end with the ticket after five minutes, and when all sessions have ended', async () => {
    const { secret } = await addTotp(admin);
    const [old, ended] = [await aTicket(), await aTicket()];
    t.clock.advance(SECOND_MS);
    await t.app.db.sql('UPDATE users SET sessions_ended_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
      admin.user.id,
      t.clock.now(),
    ]);
    expect((await secondPart(ended, { code: nextCode(secret) })).status).toBe(403);
    t.clock.advance(5 * MINUTE_MS);
    expect((await secondPart(old, { code: nextCode(secret) })).status).toBe(401);
  });
});

const enrolments = [
  ['totp', { name: 'Phone' }],
  ['totp/confirm', { code: '123456' }],
  ['passkeys/options', undefined],
  ['passkeys', { name: 'Key', response: { id: 'x', response: {} } }],
] as const;

describe('enrolment and removal', () => {
  it('need a recent proof, by the second factor where there is one', async () => {
    const { access_token: token } = await addTotp(admin);
    t.clock.advance(11 * MINUTE_MS);
    const asked = { status: 403, body: { detail: { code: 'fresh_sign_in_required', methods: ['totp', 'recovery_code'] } } };
    for (const [path, body] of [...enrolments, ['recovery-codes', {}] as const])
      expect(await from(token).post(`${BASE}/${path}`, body), path).toMatchObject(asked);
    const [factor] = (await from(token).get(BASE)).body.factors;
    expect(await from(token).delete(`${BASE}/${factor.id}`)).toMatchObject(asked);
  });

  it('do not accept the password or launch data for a factor', async () => {
    const { secret, access_token: token, factor } = await addTotp(admin);
    await t.app.db.sql('UPDATE users SET password_hash = $2 WHERE id = $1::int RETURNING id', [
      ...[admin.user.id, await hashPassword(PASSWORD)],
    ]);
    t.clock.advance(11 * MINUTE_MS);
    for (const form of [{ password: PASSWORD }, { init_data: initDataOf(t, admin.user) }])
      expect((await from(token).post('/cabinet/auth/fresh-sign-in', form)).status).toBe(403);
    const proof = await from(token).post('/cabinet/auth/fresh-sign-in', { code: nextCode(secret) });
    expect(proof.status).toBe(200);
    expect((await from(proof.body.access_token).delete(`${BASE}/${factor.id}`)).status).toBe(200);
    expect((await from(proof.body.access_token).delete(`${BASE}/${factor.id}`)).status).toBe(404);
    expect((await firstPart()).status).toBe(200);
  });

  it('a passkey proves it in a session, too', async () => {
    const { passkey, access_token: token } = await addPasskey(admin);
    t.clock.advance(11 * MINUTE_MS);
    const options = await from(token).post(`${BASE}/challenge`);
    const proof = await from(token).post('/cabinet/auth/fresh-sign-in', { passkey: passkey.get(options.body) });
    expect((await from(proof.body.access_token).post(`${BASE}/recovery-codes`)).status).toBe(200);
  });

  it('end the sessions that began without the factor, but the one that added it', async () => {
    const other = await firstPart();
    const { access_token: token } = await addTotp(admin);
    const refreshed = await from().post('/cabinet/auth/refresh', { refresh_token: other.body.refresh_token });
    expect(refreshed.status).toBe(401);
    expect((await from(token).get(BASE)).status).toBe(200);
  });

  it('notify the person, and have a limit', async () => {
    const { access_token: token } = await addTotp(admin);
    const jobs = await t.app.db.sql<{ data: string }>(
      `SELECT data::text FROM jobs.job WHERE data->>'messengerId' = $1 AND data::text LIKE '%Phone%'`,
      [String(admin.user.messengerId)],
    );
    expect(jobs).toHaveLength(1);
    for (let n = 1; n < 10; n += 1) await addPasskey(from(token));
    for (const [path, body] of enrolments)
      expect(await from(token).post(`${BASE}/${path}`, body), path).toMatchObject({
        status: 409,
        body: { detail: 'An account has at most 10 second factors' },
      });
  });

  it('are not offered to customers while only staff is meant', async () => {
    const customer = await userClient(t.app, server);
    expect((await customer.get(BASE)).body).toMatchObject({ is_available: false, factors: [] });
    for (const [path, body] of enrolments)
      expect(await customer.post(`${BASE}/${path}`, body), path).toMatchObject({
        status: 403,
        body: { detail: 'A second factor is not offered to this account' },
      });
  });
});

describe('the name of a factor', () => {
  it('is changed by its owner after a recent proof, and by nobody else', async () => {
    const { access_token: token, factor } = await addTotp(admin);
    const owner = from(token);
    const path = `${BASE}/${factor.id}`;
    expect(await owner.patch(path, { name: ' Spare key ' })).toMatchObject({
      status: 200,
      body: { id: factor.id, name: 'Spare key' },
    });
    expect((await owner.get(BASE)).body.factors).toMatchObject([{ id: factor.id, name: 'Spare key', kind: 'totp' }]);
    for (const name of ['', ' ', 'x'.repeat(65)]) expect((await owner.patch(path, { name })).status).toBe(422);
    const other = await adminClient(t.app, server, ['*:*'], 900);
    expect(await other.patch(path, { name: 'Taken' })).toMatchObject({
      status: 404,
      body: { detail: 'Second factor not found' },
    });
    // Without the factor in its access token.
    expect(await admin.patch(path, { name: 'Stolen' })).toMatchObject({
      status: 403,
      body: { detail: { code: 'fresh_sign_in_required' } },
    });
  });
});

describe('a reset by the operator', () => {
  it('removes everything, ends the sessions and is recorded', async () => {
    const { access_token: token } = await addTotp(admin);
    expect(await resetSecondFactor(t.app, 'command line', admin.user.id)).toBe(1);
    for (const path of [BASE, '/cabinet/admin/users']) expect((await from(token).get(path)).status).toBe(401);
    t.clock.advance(SECOND_MS);
    expect((await firstPart()).status).toBe(200);
    const rows = await t.app.db.sql(
      'SELECT actor_name, request_path FROM admin_audit_log WHERE resource_id = $1 AND actor_name IS NOT NULL',
      [String(admin.user.id)],
    );
    expect(rows).toEqual([{ actorName: 'command line', requestPath: 'admin reset-second-factor' }]);
  });
});
