import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { hashPassword } from '../../../src/core/password-hasher.ts';
import { createUser } from '../../../src/domain/identity/create-account.ts';
import { resendVerification } from '../../../src/domain/identity/email/email-address.ts';
import { openSession, requestRotation } from '../../../src/domain/identity/sessions/sessions.ts';
import { unique } from '../../support/builders.ts';

export const PASSWORD = 'correct horse battery';

export const actorOf = (userId: number): UserActor => ({ kind: 'user', userId });

export const anAddress = () => `user${unique()}@example.com`;

/** Texts of mails waiting for an address, newest first. */
export async function waitingMails(app: App, email: string): Promise<{ id: number; template: string; text: string }[]> {
  return app.db.sql('SELECT id, template, text FROM outgoing_mails WHERE recipient = $1 ORDER BY id DESC', [email]);
}

/** Link token or code in the newest mail to an address. */
export async function mailedSecret(app: App, email: string): Promise<string> {
  const [mail] = await waitingMails(app, email);
  const found = /token=([0-9a-f]{64})|\b(\d{6})\b/.exec(mail?.text ?? '');
  if (!found) throw new Error(`no secret was mailed to ${email}`);
  return (found[1] ?? found[2])!;
}

let hashOnce: Promise<string> | undefined;

/** bcrypt costs a third of a second: one hash serves every account of a file. */
function createEmailAccount(app: App, email: string, emailVerified: boolean) {
  hashOnce ??= hashPassword(PASSWORD);
  return hashOnce.then((passwordHash) =>
    createUser(app, {
      authType: 'email',
      messengerId: null,
      username: null,
      firstName: 'Ann',
      lastName: null,
      email,
      emailVerified,
      passwordHash,
      language: 'en',
      referredById: null,
    }),
  );
}

/** An account by e-mail whose address is proved, signed in once. */
export async function aVerifiedAccount(app: App, email = anAddress()) {
  const { id } = await createEmailAccount(app, email, true);
  return { email, id, actor: actorOf(id), signIn: await openSession(app, id) };
}

/** A session of a client that stores a new refresh token at each refresh (spec 10 U2). */
export async function aRotatingSession(app: App, userId: number) {
  const signIn = await openSession(app, userId);
  await requestRotation(app, signIn.refreshToken);
  return signIn;
}

/** A messenger account made by the use case. */
export function aMessengerAccount(app: App, messengerId = 7_000_000_000 + unique()) {
  return createUser(app, {
    authType: 'messenger',
    messengerId,
    username: `m${messengerId}`,
    firstName: 'Max',
    lastName: null,
    email: null,
    emailVerified: false,
    passwordHash: null,
    language: 'ru',
    referredById: null,
  });
}

/** An unverified account by e-mail with a verification link on its way. */
export async function anUnverifiedAccount(app: App, email = anAddress()) {
  const { id } = await createEmailAccount(app, email, false);
  await resendVerification(app, actorOf(id));
  return { email, id, actor: actorOf(id) };
}
