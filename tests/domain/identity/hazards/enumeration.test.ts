/**
 * spec 01 H10: nobody learns from an answer, or from the time it takes, whether an address has an account. The time follows from the work,
 * which is counted here: the same statements go to the database, and as many passwords are compared at the same cost.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import { type ApiReply, clientOf, testServer } from '../../../support/api.ts';
import { type PasswordComputation, type PasswordWork, watchPasswordWork } from '../../../support/password-work.ts';
import { testApp } from '../../../support/test-app.ts';
import { aMessengerAccount, anAddress, anUnverifiedAccount, aVerifiedAccount } from '../accounts.ts';

let app: App;
let server: FastifyInstance;
let work: PasswordWork;
/** Statements of the request under way, and the queues that it sends jobs to. */
let statements: string[] = [];
let queues: string[] = [];

beforeAll(async () => {
  ({ app } = await testApp());
  const { sql } = app.db;
  const watched: typeof sql = (text, values) => {
    statements.push(text.replace(/\s+/g, ' '));
    return sql(text, values);
  };
  const jobs: App['jobs'] = {
    ...app.jobs,
    send: (queue, ...job) => {
      queues.push(queue);
      return app.jobs.send(queue, ...job);
    },
  };
  server = await testServer({ ...app, jobs, db: { ...app.db, sql: watched } });
});
afterAll(() => server.close());
beforeEach(async () => {
  work = watchPasswordWork();
  await app.db.sql('DELETE FROM rate_limit_windows');
});
afterEach(() => work.stop());

const kinds = {
  unknown: async () => anAddress(),
  verified: async () => (await aVerifiedAccount(app)).email,
  unverified: async () => (await anUnverifiedAccount(app)).email,
  'without a password': async () => {
    const { id, email } = await aVerifiedAccount(app);
    await app.db.sql('UPDATE users SET password_hash = NULL WHERE id = $1 RETURNING id', [id]);
    return email;
  },
  blocked: async () => {
    const { id, email } = await aVerifiedAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [id]);
    return email;
  },
  'of a messenger account': async () => {
    const [{ id }, email] = [await aMessengerAccount(app), anAddress()];
    await app.db.sql('UPDATE users SET email = $2 WHERE id = $1 RETURNING id', [id, email]);
    return email;
  },
};
type Kind = keyof typeof kinds;
const NAMES = Object.keys(kinds) as Kind[];

interface Seen {
  reply: ApiReply;
  statements: string[];
  queues: string[];
  computations: PasswordComputation[];
}

/** Asks about one address of each kind in turn, round after round. */
async function interleaved(rounds: number, ask: (email: string) => Promise<ApiReply>): Promise<Record<Kind, Seen[]>> {
  const addresses = {} as Record<Kind, string>;
  for (const kind of NAMES) addresses[kind] = await kinds[kind]();
  const seen = Object.fromEntries(NAMES.map((kind) => [kind, []])) as unknown as Record<Kind, Seen[]>;
  // The first call of a process pays for what later ones find ready.
  await ask(anAddress());
  for (let round = 0; round < rounds; round++) {
    for (let place = 0; place < NAMES.length; place++) {
      const kind = NAMES[(place + round) % NAMES.length]!;
      await app.db.sql('DELETE FROM rate_limit_windows');
      statements = [];
      queues = [];
      const { length: before } = work.computations;
      const reply = await ask(addresses[kind]);
      seen[kind].push({ reply, statements, queues, computations: work.computations.slice(before) });
    }
  }
  return seen;
}

/** Everything a client can tell two answers apart by. */
function visible({ status, body, headers }: ApiReply): unknown {
  const { date: _date, 'x-request-id': _id, ...rest } = headers;
  return { status, body, headers: rest };
}

function expectAlike(seen: Record<Kind, Seen[]>): void {
  const [model] = seen.unknown;
  for (const kind of NAMES) {
    for (const one of seen[kind]) {
      expect(visible(one.reply), kind).toEqual(visible(model!.reply));
      expect(one.statements, kind).toEqual(model!.statements);
      expect(one.queues, kind).toEqual(model!.queues);
      expect(one.computations, kind).toEqual(model!.computations);
    }
  }
}

describe('spec 01 H10: no enumeration', () => {
  test('signing in with a wrong password: one answer, one work', async () => {
    const client = clientOf(server);
    const seen = await interleaved(NAMES.length, (email) =>
      client.post('/cabinet/auth/email/login', { email, password: 'wrong password' }),
    );
    expect(seen.unknown[0]!.reply).toMatchObject({ status: 401, body: { detail: 'Invalid email or password' } });
    expectAlike(seen);
    // A password that is not compared makes an answer tens of times faster, and one compared at another cost betrays itself as well.
    expect(seen.unknown[0]!.computations).toEqual([{ kind: 'verify', cost: 4 }]);
  });

  test('forgetting a password: one answer, one work', async () => {
    const client = clientOf(server);
    const seen = await interleaved(NAMES.length, (email) => client.post('/cabinet/auth/password/forgot', { email }));
    expect(seen.unknown[0]!.reply).toMatchObject({
      status: 200,
      body: { message: 'If the email exists, a password reset link has been sent' },
    });
    expectAlike(seen);
    // Writing the mail at once would take several times as long as handing over a job does.
    expect(seen.unknown[0]).toMatchObject({ queues: ['identity.password-reset'], computations: [] });
  });
});

describe('spec 01 H12: tries are limited by account and by address', () => {
  test('a forged forwarding header does not change the client of a rate limit', async () => {
    const proxied = await testServer((await testApp({ environment: { CABINET_TRUSTED_PROXIES: '127.0.0.1' } })).app);
    try {
      const attempt = (forwarded: string) =>
        clientOf(proxied, { 'x-forwarded-for': forwarded }).post('/cabinet/auth/email/verify', { token: 'a'.repeat(64) });
      for (let n = 1; n <= 10; n++) expect((await attempt(`198.51.100.${n}, 203.0.113.7`)).status).toBe(400);
      const refused = await attempt('198.51.100.99, 203.0.113.7');
      expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many requests' }, headers: { 'retry-after': '60' } });
      expect((await attempt('203.0.113.8')).status).toBe(400);
    } finally {
      await proxied.close();
    }
  });

  test('one account is locked for everybody after ten tries, an unknown address just so', async () => {
    const { email } = await aVerifiedAccount(app);
    const { app: behindProxy, clock } = await testApp({ environment: { CABINET_TRUSTED_PROXIES: '127.0.0.1' } });
    const proxied = await testServer(behindProxy);
    try {
      for (const address of [email, anAddress()]) {
        const login = (n: number) =>
          clientOf(proxied, { 'x-forwarded-for': `203.0.113.${n}` }).post('/cabinet/auth/email/login', {
            email: address,
            password: 'wrong',
          });
        const replies = await Promise.all(Array.from({ length: 11 }, (_, n) => login(n + 1)));
        expect(replies.map((reply) => reply.status).toSorted()).toEqual([...Array(10).fill(401), 429]);
        const wait = Number(replies.find((reply) => reply.status === 429)!.headers['retry-after']);
        expect(wait).toBeGreaterThanOrEqual(60);
        expect(wait).toBeLessThanOrEqual(900);
        // Whoever waits as long as the answer says is admitted again.
        clock.advance((wait - 1) * 1_000);
        if (wait > 60) expect((await login(99)).status).toBe(429);
        clock.advance(1_000);
        expect((await login(100)).status).toBe(401);
      }
    } finally {
      await proxied.close();
    }
  });
});
