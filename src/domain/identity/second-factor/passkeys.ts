import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { put, take } from '../../../core/short-lived.ts';
import type { UserRecord } from '../types.ts';
import { listPasskeys, spendSignature } from './repo.ts';

/** Loaded with the first passkey: it has ten packages, which a service without passkeys does not need in memory. */
const webAuthn = () => import('@simplewebauthn/server');

const CHALLENGE_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** Base64url; 1023 bytes, as WebAuthn allows. */
const MAX_CREDENTIAL_ID = 1_400;
const ACCEPTED_TRANSPORTS: ReadonlySet<string> = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

/** The site that passkeys belong to, the cabinet's: its host, and the pages that may use them. */
export function siteOf(app: App): { rpId: string; origins: string[] } {
  const { hostname, origin } = new URL(app.settings.get('CABINET_URL'));
  const allowed = app.settings
    .get('CABINET_ALLOWED_ORIGINS')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => URL.canParse(text) && isWithin(new URL(text).hostname, hostname))
    .map((text) => new URL(text).origin);
  return { rpId: hostname, origins: [...new Set([origin, ...allowed])] };
}

/** What authenticators show of the account. */
export const accountName = ({ id, email, username }: UserRecord): string => email ?? username ?? `user ${id}`;

const isWithin = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/** For which sign-in or session a challenge was made: it is void for every other one. */
export type ChallengeKey = `passkey:${'ticket' | 'session' | 'enrolment'}:${string}`;

/** Options for `navigator.credentials.create`. The challenge counts once, for five minutes. */
export async function registrationOptions(app: App, user: UserRecord, key: ChallengeKey) {
  const { rpId } = siteOf(app);
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: rpId,
    rpID: rpId,
    userName: accountName(user),
    userID: new TextEncoder().encode(String(user.id)),
    challenge: new Uint8Array(app.random.bytes(32)),
    attestationType: 'none',
    excludeCredentials: (await listPasskeys(app.db, user.id)).map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
  await put(app, key, { challenge: options.challenge }, CHALLENGE_SECONDS);
  return options;
}

/** @returns null for an answer to another challenge, of another site, or that is not signed */
export async function readRegistration(app: App, key: ChallengeKey, response: unknown) {
  const stored = await take<{ challenge: string }>(app, key);
  if (!stored) return null;
  const { rpId, origins } = siteOf(app);
  const { verifyRegistrationResponse } = await webAuthn();
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: stored.challenge,
      expectedOrigin: origins,
      expectedRPID: rpId,
      requireUserVerification: false,
    });
    if (!registrationInfo) return null;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    if (id.length > MAX_CREDENTIAL_ID) return null;
    return {
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      signCount: counter,
      transports: transports.filter((name) => ACCEPTED_TRANSPORTS.has(name)),
    };
  } catch (error) {
    app.log.info({ err: error }, 'a new passkey was refused');
    return null;
  }
}

/** Options for `navigator.credentials.get` with the user's passkeys. The challenge counts once, for five minutes. */
export async function authenticationOptions(app: App, userId: number, key: ChallengeKey) {
  const { generateAuthenticationOptions } = await webAuthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(app).rpId,
    challenge: new Uint8Array(app.random.bytes(32)),
    allowCredentials: (await listPasskeys(app.db, userId)).map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports as string[],
    })),
    userVerification: 'preferred',
  });
  await put(app, key, { challenge: options.challenge }, CHALLENGE_SECONDS);
  return options;
}

/** Whether one of the user's passkeys signed the challenge, for the first time with this count. */
export async function isSignedByPasskey(app: App, userId: number, key: ChallengeKey, response: unknown): Promise<boolean> {
  const stored = await take<{ challenge: string }>(app, key);
  const id = (response as { id?: unknown } | null)?.id;
  const passkey = (await listPasskeys(app.db, userId)).find(({ credentialId }) => credentialId === id);
  if (!stored || !passkey) return false;
  const { rpId, origins } = siteOf(app);
  const { verifyAuthenticationResponse } = await webAuthn();
  const signed = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: stored.challenge,
    expectedOrigin: origins,
    expectedRPID: rpId,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      counter: passkey.signCount,
    },
    requireUserVerification: false,
  }).catch((error: unknown) => {
    app.log.warn({ err: error, userId }, 'a signature of a passkey was refused');
    return null;
  });
  if (!signed?.verified) return false;
  const isFirst = await spendSignature(app.db, passkey.id, signed.authenticationInfo.newCounter, app.clock.now());
  if (!isFirst) app.log.warn({ userId }, 'a passkey has signed with this count before: there may be a copy of it');
  return isFirst;
}
