/** Entry point of the package: what its users may import. */
import { builtFacts } from './built-facts.ts';
import { type CabinetClient, type CabinetClientOptions, createClient } from './create-client.ts';

export { newIdempotencyKey, type Proof, type ProofPrompt } from './api-caller.ts';
export { CabinetError, type CabinetErrorFacts, type ErrorDetail, type FieldError } from './cabinet-error.ts';
export { type CabinetClient, type CabinetClientOptions, createFeedClient, type FeedClientOptions } from './create-client.ts';
export type { CabinetEvents, FeedEvents } from './event-types.ts';
export type {
  CabinetEvent,
  CabinetEventType,
  CabinetMessages,
  FeedEvent,
  FeedEventType,
  FeedMessages,
} from './live-events.ts';
export type { AnyEvent, LiveFeed } from './live-feed.ts';
export { createPasskey, type PasskeyAnswer, type PasskeyOptions, signWithPasskey } from './passkeys.ts';
export type { CallOptions, Mutation, Query } from './procedure-types.ts';
export type { CabinetProcedures, PublicProcedures } from './procedures.ts';
export type { LiveStatus, SocketTiming, WebSocketConstructor, WebSocketLike } from './reconnecting-socket.ts';
export type { Session, SignInAnswer } from './session.ts';
export { memoryTokenStore, storageTokenStore, type TextStorage, type TokenPair, type TokenStore } from './token-store.ts';

/** A client of the cabinet for browsers and Node: typed calls, session, live events. */
export function createCabinetClient(options: CabinetClientOptions): CabinetClient {
  return createClient(options, builtFacts);
}
