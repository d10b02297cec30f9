import type { IncomingMessage, Server } from 'node:http';
import type { TokenActor } from '../core/actor.ts';
import type { App } from '../core/app.ts';
import type { EventBus } from '../core/events/event-bus.ts';
import type { Metrics } from '../core/metrics.ts';
import type { CabinetAccess } from './cabinet-access.ts';
import type { RealtimeLimits } from './feed-client.ts';

export interface RealtimeOptions {
  httpServer: Server;
  app: App;
  bus: Pick<EventBus, 'subscribe' | 'position' | 'origin' | 'refresh'>;
  authenticateToken(
    app: App,
    credentials: { apiKey: string | null; bearer: string | null },
    ip: string | null,
  ): Promise<TokenActor>;
  authenticateUser(app: App, credentials: { bearer: string | null; initData: string | null }): Promise<{ userId: number }>;
  readCabinetAccess(app: App, userId: number, ip: string | null): Promise<CabinetAccess>;
  /** The same for sessions with open sockets, in one query. @returns in their order the access, or the AppError that ends them */
  recheckCabinetAccess(
    app: App,
    open: readonly { userId: number; sessionId: string; ip: string | null }[],
  ): Promise<PromiseSettledResult<CabinetAccess>[]>;
  /** Client address behind trusted proxies; the socket's own unless given. */
  clientIp?: (request: IncomingMessage) => string | null;
  /** The mount at which clients have words of their own (spec 09); there is none unless given. */
  mount?: WordsMount | undefined;
  metrics?: Pick<Metrics, 'setWebsocketSource'>;
  limits?: Partial<RealtimeLimits>;
}

interface WordsMount {
  /** @returns the URL in our words; null for a request that is not on the mount */
  enter(request: IncomingMessage): string | null;
  /** The payload of an event in the client's words. */
  payload(payload: Record<string, unknown>): Record<string, unknown>;
}
