import { ApiCaller, type ProcedureFacts, type ProofPrompt } from './api-caller.ts';
import { apiProxy } from './api-proxy.ts';
import type { CabinetMessages, FeedMessages } from './live-events.ts';
import { LiveFeed } from './live-feed.ts';
import type { CabinetProcedures, PublicProcedures } from './procedures.ts';
import type { SocketTiming, WebSocketConstructor } from './reconnecting-socket.ts';
import { claimsOf, Session } from './session.ts';
import { memoryTokenStore, type TokenStore } from './token-store.ts';

export interface CabinetClientOptions {
  /** Address of the service, for example `https://api.example.com`. */
  baseUrl: string;
  /** Where the tokens are stored; default: in memory. */
  tokens?: TokenStore;
  /** The service no longer accepts the session: show the sign-in. Not called by `session.signOut()`. */
  onSignedOut?: () => void;
  /**
   * An operation that cannot be undone needs a recent sign-in: ask the user for his password. With the proof the operation is sent once more.
   * Default: the call fails with the code `fresh_sign_in_required`.
   */
  onFreshSignInRequired?: ProofPrompt;
  /** Longest wait for one answer; default: 30 s. */
  timeoutMs?: number;
  /** Default: that of the runtime. */
  fetch?: typeof fetch;
  WebSocket?: WebSocketConstructor;
  socketTiming?: Partial<SocketTiming>;
}

export interface CabinetClient {
  /** `api.<group>.<procedure>.query(input)` or `.mutate(input)`, as the router has them. */
  readonly api: CabinetProcedures;
  /** Procedures outside the cabinet that need no credential. */
  readonly open: PublicProcedures;
  readonly session: Session;
  /** Events of the signed-in user (`/cabinet/ws`). */
  readonly live: LiveFeed<CabinetMessages>;
  /** Ends the live connection; a process in Node can then end. Calls still work. */
  close(): void;
}

const TIMEOUT_MS = 30_000;
/** A token that expires within this time is replaced before a socket is opened with it. */
const EXPIRY_MARGIN_MS = 10_000;

/** What both entry points make their clients of. */
interface ClientParts {
  client: CabinetClient;
  caller: ApiCaller;
  /** A feed that the signed-in user's access token opens. */
  feedAt<Messages>(path: string, protocol: string): LiveFeed<Messages>;
}

/** The client without the facts that the build adds; users call `createCabinetClient`. */
export function createClient(options: CabinetClientOptions, facts: ProcedureFacts): CabinetClient {
  return createClientParts(options, facts).client;
}

export function createClientParts(options: CabinetClientOptions, facts: ProcedureFacts): ClientParts {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  // The `fetch` of a browser throws when it is called as a method of anything but the global object.
  const fetchAnswer = options.fetch ?? ((...request: Parameters<typeof fetch>) => globalThis.fetch(...request));
  const { onFreshSignInRequired, onSignedOut } = options;
  const session = new Session({
    baseUrl,
    timeoutMs,
    fetch: fetchAnswer,
    store: options.tokens ?? memoryTokenStore(),
    ...(onSignedOut ? { onSignedOut } : {}),
  });
  const caller = new ApiCaller({
    baseUrl,
    session,
    facts,
    fetch: fetchAnswer,
    timeoutMs,
    ...(onFreshSignInRequired ? { onFreshSignInRequired } : {}),
  });
  const feedAt = <Messages>(path: string, protocol: string) => {
    const feed = liveOf<Messages>(`${socketUrl(baseUrl)}${path}`, protocol, session, options);
    session.onChange(() => feed.restart());
    return feed;
  };
  const live = feedAt<CabinetMessages>('/cabinet/ws', 'cabinet');
  const client = {
    api: apiProxy<CabinetProcedures>(caller, 'cabinet'),
    open: apiProxy<PublicProcedures>(caller, 'web'),
    session,
    live,
    close: () => live.close(),
  };
  return { client, caller, feedAt };
}

function liveOf<Messages>(url: string, protocol: string, session: Session, options: CabinetClientOptions): LiveFeed<Messages> {
  let usedToken = '';
  return new LiveFeed<Messages>({
    WebSocket: options.WebSocket ?? globalWebSocket(),
    target: async () => {
      let tokens = await session.tokens();
      if (tokens && isExpiring(tokens.accessToken)) tokens = await session.refresh(tokens.accessToken);
      if (!tokens) return null;
      usedToken = tokens.accessToken;
      // As a protocol, because addresses end up in logs; the service chooses the first name.
      return { url, protocols: [protocol, `bearer.${usedToken}`] };
    },
    renew: async (reason) => (reason.startsWith('Unauthorized') ? (await session.refresh(usedToken)) !== null : true),
    ...(options.socketTiming ? { timing: options.socketTiming } : {}),
  });
}

export interface FeedClientOptions {
  /** Address of the service, for example `https://api.example.com`. */
  baseUrl: string;
  /** API token. It reads the events of all users: never give it to a browser. */
  apiKey: string;
  /** `id` of the last event that an earlier process has processed: the events after it are delivered first. Default: new events only. */
  after?: string;
  WebSocket?: WebSocketConstructor;
  socketTiming?: Partial<SocketTiming>;
}

/** Receives the events of the whole service (`/ws`): sign-ups, payments, tickets. For servers. */
export function createFeedClient(options: FeedClientOptions): LiveFeed<FeedMessages> {
  const url = `${socketUrl(options.baseUrl.replace(/\/+$/, ''))}/ws?token=${encodeURIComponent(options.apiKey)}`;
  return new LiveFeed<FeedMessages>({
    WebSocket: options.WebSocket ?? globalWebSocket(),
    target: async () => ({ url }),
    renew: async (reason) => !reason.startsWith('Unauthorized'),
    ...(options.after === undefined ? {} : { after: options.after }),
    ...(options.socketTiming ? { timing: options.socketTiming } : {}),
  });
}

function socketUrl(baseUrl: string): string {
  return baseUrl.replace(/^http/, 'ws');
}

function globalWebSocket(): WebSocketConstructor {
  return (globalThis as unknown as { WebSocket: WebSocketConstructor }).WebSocket;
}

function isExpiring(accessToken: string): boolean {
  const { exp } = claimsOf(accessToken);
  return typeof exp === 'number' && exp * 1000 - Date.now() < EXPIRY_MARGIN_MS;
}
