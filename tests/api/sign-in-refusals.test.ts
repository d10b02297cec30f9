/** What the sign-ins by the messenger, a provider or a link, and the linking of accounts refuse (spec 01 sections 5 to 7). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { put } from '../../src/core/short-lived.ts';
import { issueAutoLoginToken } from '../../src/domain/identity/auto-login/auto-login.ts';
import { confirmSignIn, requestDeepLink } from '../../src/domain/identity/deeplink-sign-in.ts';
import { startLinking } from '../../src/domain/identity/linking.ts';
import { beginOAuth } from '../../src/domain/identity/oauth/sign-in-with-provider.ts';
import type { OAuthProvider } from '../../src/domain/identity/oauth/types.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { createMessengerIdentityPort } from '../../src/integrations/messenger/identity-port.ts';
import { actorOf, aMessengerAccount, aVerifiedAccount } from '../domain/identity/accounts.ts';
import { signedWidget, signInData } from '../domain/identity/linking-proofs.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../fakes/oauth-issuer.ts';
import { startTokenIssuer, type TokenIssuer } from '../fakes/token-issuer.ts';
import { type ApiClient, type ApiReply, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { onceHttp } from '../support/loopback-http.ts';
import { BROWSER, signInOver, someone, switchedOff, withIssuer } from '../support/oauth-setup.ts';
import { type Switches, switchableApp } from '../support/switchable-app.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let switches: Switches;
let server: FastifyInstance;
let issuer: OAuthIssuer;
let tokenIssuer: TokenIssuer;
let oidcClient: string;
beforeAll(async () => {
  [issuer, tokenIssuer] = await Promise.all([startOAuthIssuer(), startTokenIssuer()]);
  const made = await testApp({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });
  const messengerIdentity = createMessengerIdentityPort({
    clock: made.clock,
    log: made.app.log,
    http: onceHttp(),
    botToken: () => made.app.settings.get('BOT_TOKEN'),
    botUsername: () => 'test_bot',
    oidc: () => (oidcClient === '' ? null : { issuer: tokenIssuer.server.url, clientId: oidcClient }),
  });
  const app = withIssuer({ ...made.app, ports: { ...made.app.ports, messengerIdentity } }, issuer);
  const switchable = switchableApp(app);
  switches = switchable.switches;
  t = { ...made, app: switchable.app };
  server = await testServer(t.app);
});
beforeEach(() => {
  switches.restore();
  switchedOff.clear();
  issuer.reset();
  oidcClient = 'client';
});
afterAll(async () => {
  await server.close();
  await Promise.all([issuer.close(), tokenIssuer.close()]);
});

type Case = [name: string, status: number, detail: string, attempt: () => Promise<ApiReply>];

let clientCount = 0;
/** A client with an address of its own, so that tests do not use up each other's limits. */
function newClient(headers: Record<string, string> = {}): ApiClient {
  clientCount += 1;
  return clientOf(server, { 'x-forwarded-for': `198.58.0.${clientCount}`, ...headers });
}

async function clientOfUser(id: number): Promise<ApiClient> {
  const { accessToken } = await openSession(t.app, id);
  return newClient({ authorization: `Bearer ${accessToken}` });
}

async function aBlockedUser() {
  const user = await aMessengerAccount(t.app);
  await block(user.id);
  return { ...user, messengerId: user.messengerId! };
}
const block = (id: number) => t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [id]);

const newId = () => 6_600_000_000 + unique();
const UNKNOWN_ID = 2_147_000_000;
const signIn = (path: string, body?: unknown) => newClient().post(`/cabinet/auth/${path}`, body);

function idToken(claims: Record<string, unknown>, header: Record<string, unknown> = {}): string {
  const now = Math.floor(t.clock.now().getTime() / 1_000);
  const usual = { iss: tokenIssuer.server.url, aud: 'client', sub: 'x', iat: now, exp: now + 3_600, jti: unique() };
  return tokenIssuer.token({ ...usual, ...claims }, header);
}

/** The issuer's keys cannot be fetched for a token of another issuer's address, whose keys are not known. */
async function withoutKeys(attempt: (token: string) => Promise<ApiReply>): Promise<ApiReply> {
  const stranger = await startTokenIssuer();
  stranger.knobs.status = 500;
  const known = tokenIssuer;
  tokenIssuer = stranger;
  try {
    return await attempt(idToken({ id: newId() }));
  } finally {
    tokenIssuer = known;
    await stranger.close();
  }
}

const poll = (token: string) => signIn('deeplink/poll', { token });
async function pollOf(entry: object): Promise<ApiReply> {
  const token = `stored-${String(unique()).padStart(16, '0')}`;
  await put(t.app, `web_auth:${token}`, entry, 60);
  return poll(token);
}

const messenger = {
  'The launch data of the mini-app': [
    ['without a user', 401, 'Missing Messenger user ID', () => signIn('messenger', { init_data: signInData(t.app, 0) })],
    [
      'of a blocked user',
      403,
      'User account is not active',
      async () => signIn('messenger', { init_data: signInData(t.app, (await aBlockedUser()).messengerId) }),
    ],
  ],
  'The login widget': [
    [
      'of a blocked user',
      403,
      'User account is not active',
      async () => signIn('messenger/widget', signedWidget(t.app, (await aBlockedUser()).messengerId)),
    ],
  ],
  'A confirmation in the bot': [
    [
      'is not begun without a bot',
      503,
      'Bot not configured',
      async () => {
        switches.hasBot = false;
        return signIn('deeplink/request');
      },
    ],
    [
      'is not begun while it cannot be stored',
      503,
      'Service temporarily unavailable',
      async () => {
        switches.lostKey = 'web_auth:';
        return signIn('deeplink/request');
      },
    ],
    ['with an unknown state', 410, 'Invalid token state', () => pollOf({ status: 'other' })],
    ['of a user who is gone', 401, 'User not found', () => pollOf({ status: 'linked', user_id: UNKNOWN_ID })],
    [
      'of a user who is blocked meanwhile',
      403,
      'Account is deactivated',
      async () => {
        const user = await aMessengerAccount(t.app);
        const { token } = await requestDeepLink(t.app, { ip: null, device: null });
        await confirmSignIn(t.app, token, user.messengerId!);
        await block(user.id);
        return poll(token);
      },
    ],
  ],
  'The link of a purchase': [
    [
      'of a blocked user',
      403,
      'Account is deactivated',
      async () => signIn('login/auto', { token: await issueAutoLoginToken(t.app, (await aBlockedUser()).id) }),
    ],
  ],
} satisfies Record<string, Case[]>;

/** Refusals of a token are the same at a sign-in and at the linking. */
const tokenCases: [string, number, string, (send: (token: string) => Promise<ApiReply>) => Promise<ApiReply>][] = [
  ['a token without a user', 401, 'Missing user ID in OIDC claims', (send) => send(idToken({ sub: '' }))],
  ['a token of no user', 401, 'Invalid user ID in OIDC claims', (send) => send(idToken({ id: 'abc' }))],
  ['a token of another client', 401, 'Invalid or expired Messenger OIDC token', (send) => send(idToken({ aud: 'other' }))],
  ['a token whose keys cannot be read', 503, 'Service temporarily unavailable', withoutKeys],
  [
    'a token that is not set up',
    400,
    'Messenger OIDC is not configured',
    (send) => {
      oidcClient = '';
      return send('x');
    },
  ],
];

async function ofBlockedUser(send: (token: string) => Promise<ApiReply>): Promise<ApiReply> {
  return send(idToken({ id: (await aBlockedUser()).messengerId }));
}

/** A sign-in in a browser that has not sent its cookie yet. */
async function callbackOf(
  provider: OAuthProvider,
  body: (begun: { authorizeUrl: string; state: string }) => Promise<object> | object,
) {
  const begun = await beginOAuth(t.app, provider, { browserSecret: BROWSER });
  return signIn(`oauth/${provider}/callback`, await body(begun));
}

/** Refusals of the identity at a provider are the same at a sign-in and at both ways of linking. */
const identityCases: [string, string, () => void, code: string | null][] = [
  ['a code that the provider refuses', 'Failed to exchange authorization code', () => {}, 'x'],
  [
    'a user that the provider does not name',
    'Failed to fetch user information from provider',
    () => {
      issuer.knobs.userInfoStatus = 500;
    },
    null,
  ],
  ['a provider that is off meanwhile', 'Requested OAuth provider is not available', () => switchedOff.add('discord'), 'x'],
];

const ways: Record<
  string,
  () => Promise<{ authorizeUrl: string; send: (callback: { code: string; state: string }) => Promise<ApiReply> }>
> = {
  'a sign-in': async () => {
    const { authorizeUrl } = await beginOAuth(t.app, 'discord', { browserSecret: BROWSER });
    return { authorizeUrl, send: (callback) => signIn('oauth/discord/callback', callback) };
  },
  'linking in a session': async () => {
    const { id } = await aMessengerAccount(t.app);
    const { authorizeUrl } = await startLinking(t.app, actorOf(id), 'discord');
    const api = await clientOfUser(id);
    return { authorizeUrl, send: (callback) => api.post('/cabinet/auth/account/link/discord/callback', callback) };
  },
  'linking without a session': async () => {
    const { id } = await aMessengerAccount(t.app);
    const { authorizeUrl } = await startLinking(t.app, actorOf(id), 'discord');
    return { authorizeUrl, send: (callback) => signIn('account/link/server-complete', callback) };
  },
};

async function linkedWhileBegun(name: keyof typeof ways, isSession: boolean): Promise<ApiReply> {
  const { id } = await aMessengerAccount(t.app);
  const [first, second] = [await startLinking(t.app, actorOf(id), 'google'), await startLinking(t.app, actorOf(id), 'google')];
  const api = await clientOfUser(id);
  const path = isSession ? 'link/google/callback' : 'link/server-complete';
  const send = async ({ authorizeUrl }: { authorizeUrl: string }) => {
    const { code, state } = await issuer.approve(authorizeUrl, someone());
    return api.post(`/cabinet/auth/account/${path}`, { code, state });
  };
  expect([name, (await send(first)).status]).toEqual([name, 200]);
  return send(second);
}

async function storedState(entry: object): Promise<string> {
  const state = `state-${unique()}`;
  await put(t.app, `oauth_state:${state}`, entry, 600);
  return state;
}
async function completeByState(entry: object, provider: string | null = null): Promise<ApiReply> {
  return signIn('account/link/server-complete', { code: 'x', state: await storedState(entry), provider });
}
async function completeInSession(entry: object): Promise<ApiReply> {
  const api = await clientOfUser((await aMessengerAccount(t.app)).id);
  return api.post('/cabinet/auth/account/link/google/callback', { code: 'x', state: await storedState(entry) });
}

const FOR_SIGN_IN = 'OAuth state was not initiated for account linking';
const linking = (userId: number | string) => ({ provider: 'google', linking: 'true', user_id: String(userId) });

const providers = {
  'A sign-in through a provider': [
    [
      'with a state of linking',
      400,
      'OAuth state was initiated for account linking, not login',
      async () => {
        const { state } = await startLinking(t.app, actorOf((await aMessengerAccount(t.app)).id), 'google');
        return signIn('oauth/google/callback', { code: 'x', state });
      },
    ],
    [
      'of a blocked user',
      403,
      'User account is not active',
      async () => {
        const person = someone();
        await block((await signInOver(t.app, issuer, 'google', person)).user.id);
        return callbackOf('google', async ({ authorizeUrl }) => {
          const { code, state } = await issuer.approve(authorizeUrl, person);
          return { code, state };
        });
      },
    ],
  ],
  'Linking a provider in a session': [
    ['with a state of a sign-in', 400, FOR_SIGN_IN, () => completeInSession({ provider: 'google' })],
    [
      'with a state of another user',
      400,
      'OAuth state was initiated by a different user',
      async () => completeInSession(linking((await aMessengerAccount(t.app)).id)),
    ],
    ['that is linked meanwhile', 400, 'Provider is already linked to your account', () => linkedWhileBegun('in a session', true)],
  ],
  'Linking a provider without a session': [
    ['with a state of a sign-in', 400, FOR_SIGN_IN, () => completeByState({ provider: 'google' })],
    ['of an unknown name', 400, 'Could not determine OAuth provider', () => completeByState({ provider: 'other' })],
    ['that the state does not name', 400, 'Provider does not match OAuth state', () => completeByState(linking(1), 'vk')],
    ['with a state of no user', 400, 'Invalid user_id in OAuth state', () => completeByState(linking('abc'))],
    ['with a state of a user who is gone', 400, 'User not found', () => completeByState(linking(UNKNOWN_ID))],
    [
      'with a state of a blocked user',
      403,
      'User account is not active',
      async () => completeByState(linking((await aBlockedUser()).id)),
    ],
    ['that is linked meanwhile', 400, 'Provider is already linked to your account', () => linkedWhileBegun('by state', false)],
  ],
  'Linking a messenger account': [
    [
      'by a widget that the messenger did not sign',
      400,
      'Invalid or expired Messenger Login Widget data',
      async () => {
        const api = await clientOfUser((await aVerifiedAccount(t.app)).id);
        return api.post('/cabinet/auth/account/link/messenger', { ...signedWidget(t.app, newId()), first_name: 'Other' });
      },
    ],
    [
      'to an account that has one',
      400,
      'Messenger is already linked to your account',
      async () => {
        const api = await clientOfUser((await aMessengerAccount(t.app)).id);
        return api.post('/cabinet/auth/account/link/messenger', signedWidget(t.app, newId()));
      },
    ],
  ],
  Unlinking: [
    [
      'the last way to sign in',
      400,
      'Cannot unlink last authentication method',
      async () => {
        const { user } = await signInOver(t.app, issuer, 'google', someone());
        return (await clientOfUser(user.id)).post('/cabinet/auth/account/unlink/google');
      },
    ],
  ],
} satisfies Record<string, Case[]>;

const cases: [string, Case[]][] = [
  ...Object.entries(messenger as Record<string, Case[]>),
  ...Object.entries(providers as Record<string, Case[]>),
];
describe.each(cases)('%s', (_group, refused) => {
  test.each(refused)('is refused: %s', async (_name, status, detail, attempt) => {
    const reply = await attempt();
    expect([reply.status, reply.body.detail]).toEqual([status, detail]);
  });
});

describe.each(Object.entries(ways))('%s refuses', (_way, begin) => {
  test.each(identityCases)('%s', async (_name, detail, change, fixedCode) => {
    const { authorizeUrl, send } = await begin();
    const { code, state } = await issuer.approve(authorizeUrl, someone());
    change();
    const reply = await send({ code: fixedCode ?? code, state });
    expect([reply.status, reply.body.detail]).toEqual([400, detail]);
  });
});

describe('an OpenID Connect token', () => {
  test.each([
    ...tokenCases,
    ['a token of a blocked user', 403, 'User account is not active', ofBlockedUser] as (typeof tokenCases)[number],
  ])('is refused at a sign-in: %s', async (_name, status, detail, attempt) => {
    const reply = await attempt((id_token) => signIn('messenger/oidc', { id_token }));
    expect([reply.status, reply.body.detail]).toEqual([status, detail]);
  });

  test.each(tokenCases)('is refused at the linking: %s', async (_name, status, detail, attempt) => {
    const api = await clientOfUser((await aVerifiedAccount(t.app)).id);
    const reply = await attempt((id_token) => api.post('/cabinet/auth/account/link/messenger', { id_token }));
    expect([reply.status, reply.body.detail]).toEqual([status, detail]);
  });
});
