/** What is left of requests that have ended, and the last mail. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { advanceErasure, eraseNow } from '../../../src/domain/personal-data/erase-person.ts';
import { sweepRequests } from '../../../src/domain/personal-data/jobs.ts';
import { purgeRequests } from '../../../src/domain/personal-data/requests.ts';
import { aUser, unique } from '../../support/builders.ts';
import { findText } from '../../support/filled-person.ts';
import { setUser } from '../../support/merge-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
const NOTHING = { forfeitsBalance: false, endsSubscription: false };

let t: TestApp;
let app: App;

describe('a request', () => {
  beforeEach(async () => {
    t = await testApp({ environment: { PERSONAL_DATA_RECORD_DAYS: '100', BACKUP_MAX_KEEP: '10', BACKUP_INTERVAL_HOURS: '24' } });
    app = t.app;
  });

  const store = (state: string, daysAgo: number) => {
    const finishedAt = state === 'requested' ? null : addDays(t.clock.now(), -daysAgo);
    const kind = ['expired', 'failed'].includes(state) ? 'export' : 'erasure';
    const createdAt = addDays(t.clock.now(), -daysAgo - 7);
    const facts = {
      requestedBy: 'admin:1',
      fingerprint: '0'.repeat(64),
      createdAt,
      dueAt: kind === 'erasure' ? createdAt : null,
    };
    return storeRow(app, 'DataRequest', Object.assign({ userId: unique(), kind, state, finishedAt }, facts) as object);
  };
  const left = async () => (await app.db.sql<{ id: number }>('SELECT id FROM data_requests ORDER BY id')).map(({ id }) => id);

  test('is deleted PERSONAL_DATA_RECORD_DAYS after its end, an open one never', async () => {
    await app.db.sql('DELETE FROM data_requests RETURNING id');
    const kept = [await store('done', 99), await store('expired', 99), await store('requested', 500)];
    for (const state of ['done', 'expired', 'failed', 'cancelled']) await store(state, 101);
    expect(await purgeRequests(app)).toBe(4);
    expect(await left()).toEqual(kept.map(({ id }) => id));
  });

  test('stays while a backup that is older can be restored', async () => {
    t = await testApp({
      environment: { PERSONAL_DATA_RECORD_DAYS: '100', BACKUP_MAX_KEEP: '12', BACKUP_INTERVAL_HOURS: '720' },
    });
    app = t.app;
    await app.db.sql('DELETE FROM data_requests RETURNING id');
    const kept = await store('done', 359);
    await store('done', 361);
    await sweepRequests(app);
    expect(await left()).toEqual([kept.id]);
  });
});

describe('the last mail to a person without a messenger', () => {
  interface Sent {
    to: string;
    subject: string;
    text: string;
  }
  let sent: Sent[];
  let fails: boolean;
  let email: string;
  let userId: number;
  beforeEach(async () => {
    t = await testApp();
    sent = [];
    fails = false;
    const send = async (mail: Sent) => {
      sent.push(mail);
      if (fails) throw new Error('the mail server is away');
    };
    app = {
      ...t.app,
      ports: { ...t.app.ports, mail: Object.assign(Object.create(t.app.ports.mail), { isConfigured: () => true, send }) },
    };
    email = `last${unique()}@example.com`;
    ({ id: userId } = await aUser(app, { email }));
    await setUser(app, userId, { messenger_id: null, email_verified: true, language: 'en' });
  });

  test('is sent once, and the address is nowhere afterwards', async () => {
    const { id } = await eraseNow(app, OPERATOR, userId, NOTHING);
    await Promise.all([advanceErasure(app, id), advanceErasure(app, id)]);
    await advanceErasure(app, id);
    expect(sent).toMatchObject([{ to: email, text: expect.stringContaining('This is the last message') }]);
    expect(await findText(app, email)).toEqual([]);
  });

  test('is not repeated after a failure, which does not stop the erasure', async () => {
    fails = true;
    const { id } = await eraseNow(app, OPERATOR, userId, NOTHING);
    await advanceErasure(app, id);
    const [request] = await app.db.sql('SELECT state, remains FROM data_requests WHERE id = $1::int', [id]);
    expect([sent.length, request]).toEqual([1, { state: 'done', remains: null }]);
  });

  test('is not sent to an address that was not confirmed, nor to who has a messenger', async () => {
    await setUser(app, userId, { email_verified: false });
    const { id } = await eraseNow(app, OPERATOR, userId, NOTHING);
    await advanceErasure(app, id);
    const chatty = await aUser(app, { email: `chat${unique()}@example.com` });
    await setUser(app, chatty.id, { email_verified: true });
    const other = await eraseNow(app, OPERATOR, chatty.id, NOTHING);
    await advanceErasure(app, other.id);
    expect(sent).toEqual([]);
  });
});
