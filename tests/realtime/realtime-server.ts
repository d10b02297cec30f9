import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../../src/core/app.ts';
import type { Database } from '../../src/core/db/database.ts';
import { AppError } from '../../src/core/errors.ts';
import { EventBus } from '../../src/core/events/event-bus.ts';
import type { Audience } from '../../src/core/events/event-recorder.ts';
import { authenticateToken, createApiToken } from '../../src/domain/access/tokens.ts';
import { attachRealtime, type Realtime } from '../../src/realtime/attach-realtime.ts';
import { recheckCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import type { RealtimeLimits } from '../../src/realtime/feed-client.ts';
import type { RealtimeOptions } from '../../src/realtime/realtime-options.ts';
import { inventEvents } from '../support/recorded-events.ts';

/** What the gate of the cabinet knows of a user; tests change it. */
interface Person {
  isActive: boolean;
  isAdmin: boolean;
  receivesStaffEvents: boolean;
  /** Makes the gate fail as a lost database does. */
  isGateDown: boolean;
}

export interface TestRealtime {
  realtime: Realtime;
  bus: EventBus;
  http: Server;
  /** `ws://127.0.0.1:port` */
  url: string;
  people: Map<number, Person>;
  person(userId: number, facts?: Partial<Person>): Person;
  close(): Promise<void>;
}

/** A token in the form of a JWT for the gate below; its signature is not looked at. */
export function accessToken(userId: number, expiresAt?: Date): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: String(userId), ...(expiresAt ? { exp: Math.floor(expiresAt.getTime() / 1000) } : {}) };
  return `${part({ alg: 'HS256' })}.${part(claims)}.signature`;
}

function userIdOf(token: string | null): number {
  try {
    return Number(JSON.parse(Buffer.from((token ?? '').split('.')[1] ?? '', 'base64url').toString()).sub);
  } catch {
    return Number.NaN;
  }
}

/** An HTTP server on a free port with both feeds; API tokens are real, the cabinet's gate is a table of people. */
export async function startRealtime(
  app: App,
  database: Database,
  options: { limits?: Partial<RealtimeLimits>; overrides?: Partial<RealtimeOptions> } = {},
): Promise<TestRealtime> {
  const people = new Map<number, Person>();
  const http = createServer((request, response) => void response.end(`plain ${request.method}`));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const bus = new EventBus(database.side, app.log);
  await bus.start();
  const realtime = await attachRealtime({
    httpServer: http,
    app,
    bus,
    authenticateToken,
    authenticateUser: async (_app, { bearer }) => {
      const person = people.get(userIdOf(bearer));
      if (person?.isGateDown) throw new Error('connection lost');
      if (!person?.isActive) throw new AppError('access_token_invalid', 401, 'Invalid or expired token');
      return { userId: userIdOf(bearer) };
    },
    readCabinetAccess: async (_app, userId) => people.get(userId)!,
    recheckCabinetAccess,
    limits: { tickMs: 50, ...options.limits },
    ...options.overrides,
  });
  return {
    realtime,
    bus,
    http,
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    people,
    person: (userId, facts = {}) => {
      const person = { isActive: true, isAdmin: false, receivesStaffEvents: false, isGateDown: false, ...facts };
      people.set(userId, person);
      return person;
    },
    close: async () => {
      await realtime.close();
      await bus.stop();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export async function anApiToken(app: App, expiresAt: Date | null = null): Promise<{ id: number; token: string }> {
  return createApiToken(app, { kind: 'system', name: 'test' }, { name: 'feed', description: null, expiresAt });
}

export interface EmittedEvent {
  type?: string;
  payload?: object;
  audience?: Audience;
  userId?: number | null;
}

/** Records an event as the domain does, committed at once. */
export async function emit(app: App, event: EmittedEvent): Promise<void> {
  inventEvents();
  await app.db.sql('SELECT emit_event($1, $2::jsonb, $3, $4::int, $5::timestamptz) AS id', [
    event.type ?? 'user.created',
    JSON.stringify(event.payload ?? { user_id: 1 }),
    event.audience ?? 'feed',
    event.userId ?? null,
    app.clock.now(),
  ]);
  app.events.announce();
}

/** Records feed events with the payloads `{n, filler}`, n from `first` to `last`, in one transaction. */
export async function emitNumbers(app: App, first: number, last: number, filler = ''): Promise<void> {
  inventEvents();
  await app.db.sql(
    `SELECT count(emit_event('user.created', jsonb_build_object('n', n, 'filler', $3::text), 'feed', NULL, $4::timestamptz)) AS events
     FROM generate_series($1::int, $2::int) n`,
    [first, last, filler, app.clock.now()],
  );
  app.events.announce();
}
