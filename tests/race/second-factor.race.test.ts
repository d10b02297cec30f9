import { beforeAll, describe, expect, it } from 'vitest';
import type { UserActor } from '../../src/core/actor.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts';
import { beginTotp, confirmTotp, removeFactor } from '../../src/domain/identity/second-factor/account-factors.ts';
import { completeSignIn } from '../../src/domain/identity/second-factor/sign-in.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { codeOf } from '../support/authenticator-app.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: { SECOND_FACTOR_FOR: 'everyone' } });
});

async function actorOf(userId: number): Promise<UserActor> {
  const { accessToken } = await openSession(t.app, userId, { hasSecondFactor: true });
  const { sid } = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sid: string };
  return { kind: 'user', userId, session: { id: sid, provedAt: t.clock.now(), hasSecondFactor: true } };
}

async function aProtectedUser() {
  const { id } = await aUser(t.app);
  const actor = await actorOf(id);
  const { secret } = await beginTotp(t.app, actor, 'Phone');
  const added = await confirmTotp(t.app, actor, codeOf(secret, t.clock));
  t.clock.advance(MINUTE_MS);
  return { id, actor, secret, ...added };
}

const ticketOf = (userId: number) =>
  openSession(t.app, userId).then(
    () => null,
    (error: { detail: { ticket: string } }) => error.detail.ticket,
  );
const outcomes = async (attempts: readonly (() => Promise<unknown>)[]) =>
  (await Promise.allSettled(attempts.map((attempt) => attempt()))).map(({ status }) => status).sort();

describe('two at once', () => {
  it('with one code get one session, on any tickets', async () => {
    const { id, secret } = await aProtectedUser();
    const tickets = [await ticketOf(id), await ticketOf(id), await ticketOf(id)];
    const code = codeOf(secret, t.clock);
    const ended = await outcomes(tickets.map((ticket) => () => completeSignIn(t.app, ticket!, { code })));
    expect(ended).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('with one recovery code get one session', async () => {
    const { id, recoveryCodes } = await aProtectedUser();
    const tickets = [await ticketOf(id), await ticketOf(id)];
    const ended = await outcomes(
      tickets.map((ticket) => () => completeSignIn(t.app, ticket!, { recoveryCode: recoveryCodes![0]! })),
    );
    expect(ended).toEqual(['fulfilled', 'rejected']);
  });

  it('with one ticket and two codes get one session', async () => {
    const { id, secret } = await aProtectedUser();
    const ticket = (await ticketOf(id))!;
    const codes = [codeOf(secret, t.clock), codeOf(secret, t.clock, 1)];
    const ended = await outcomes(codes.map((code) => () => completeSignIn(t.app, ticket, { code })));
    expect(ended.filter((status) => status === 'fulfilled')).toHaveLength(1);
  });

  it('that confirm the first factor make one set of recovery codes', async () => {
    const { id } = await aUser(t.app);
    const actor = await actorOf(id);
    const { secret } = await beginTotp(t.app, actor, 'Phone');
    const codes = [codeOf(secret, t.clock), codeOf(secret, t.clock, 1)];
    await outcomes(codes.map((code) => () => confirmTotp(t.app, actor, code)));
    const [made] = await t.app.db.sql<{ codes: number; factors: number }>(
      `SELECT (SELECT count(*)::int FROM recovery_codes WHERE user_id = $1::int) AS codes,
         (SELECT count(*)::int FROM second_factors WHERE user_id = $1::int) AS factors`,
      [id],
    );
    expect(made).toEqual({ codes: 10, factors: 1 });
  });

  it('a removal of the last factor leaves no recovery code behind', async () => {
    const { id, actor, factor } = await aProtectedUser();
    t.clock.advance(SECOND_MS);
    await outcomes([() => removeFactor(t.app, actor, factor.id), () => removeFactor(t.app, actor, factor.id)]);
    const rows = await t.app.db.sql('SELECT id FROM recovery_codes WHERE user_id = $1::int', [id]);
    expect(rows).toEqual([]);
  });
});
