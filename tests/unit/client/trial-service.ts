import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { App } from '../../../src/core/app.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Context } from '../../../src/routers/context.ts';
import { publicProcedure, router } from '../../../src/routers/trpc.ts';

/** Answers of `/cabinet/auth/refresh`, in order; the last one stays. `rotate` gives new tokens. */
type RefreshAnswer = 'rotate' | { status: number };

interface SeenRequest {
  url: string;
  method: string;
  headers: IncomingHttpHeaders;
}

/** Procedure paths that the trial router has; facts as the build would read them off the metadata. */
export const TRIAL_FACTS = {
  idempotent: ['cabinet.money.spend'],
  open: ['cabinet.session.login'],
  signIn: ['cabinet.session.login'],
};

/** Shape in which the tests call the trial router through `client.api`. */
export interface TrialApi {
  session: { login: { mutate(input: { password: string }): Promise<unknown> } };
  profile: {
    name: { query(input: { id: number }, options?: { signal?: AbortSignal }): Promise<{ id: number; bearer: string }> };
    rename: { mutate(input: { name: string; tags?: string[] }): Promise<unknown> };
    /** Needs a recent proof. */
    remove: { mutate(input: { id: number }): Promise<{ id: number }> };
    slow: { query(input?: undefined, options?: { signal?: AbortSignal }): Promise<unknown> };
  };
  money: {
    spend: {
      mutate(
        input: { amount: number },
        options?: { idempotencyKey?: string },
      ): Promise<{ key: string | null; bearer: string | null }>;
    };
  };
}

/**
 * A service with a few procedures on the service's own tRPC base, a rotating refresh and both sockets. `good` access tokens are
 * accepted, all others are refused with 401.
 */
export async function startTrialService() {
  const seen: SeenRequest[] = [];
  const good = new Set(['access-1']);
  const fresh = new Set<string>();
  const sockets: { path: string; credential: string; after: string | null; socket: WebSocket }[] = [];
  const knobs = {
    refreshAnswers: ['rotate'] as RefreshAnswer[],
    /** Requests to cut off before they are answered, after their effect. */
    cuts: 0,
    failures503: 0,
    refreshGate: null as Promise<void> | null,
    /** First message of a socket. */
    greeting: { type: 'connected', user_id: 1, is_admin: false } as Record<string, unknown>,
    closeSocketsWith: null as { code: number; reason: string } | null,
  };
  const spent: { key: string | null; amount: number }[] = [];
  /** What sign-ins and renamings were called with. */
  const inputs: object[] = [];
  let serial = 1;

  const guarded = publicProcedure('cabinet').use(({ ctx, next }) => {
    if (!good.has(ctx.credentials.bearer ?? '')) throw new AppError('unauthorized', 401, 'Not authenticated');
    return next();
  });
  const appRouter = router({
    cabinet: router({
      session: router({
        login: publicProcedure('cabinet')
          .input(z.looseObject({ password: z.string() }))
          .output(z.object({ ok: z.boolean() }))
          .mutation(({ input }) => {
            inputs.push(input);
            throw new AppError('invalid_credentials', 401, 'Invalid email or password');
          }),
      }),
      profile: router({
        name: guarded
          .input(z.object({ id: z.int() }))
          .output(z.object({ id: z.number(), bearer: z.string() }))
          .query(({ ctx, input }) => ({ id: input.id, bearer: ctx.credentials.bearer ?? '' })),
        rename: guarded
          .input(z.looseObject({ name: z.string().min(3), tags: z.array(z.string()).optional() }))
          .output(z.object({ ok: z.boolean() }))
          .mutation(({ input }) => {
            inputs.push(input);
            if (input.name === 'taken')
              throw new AppError('name_taken', 409, { code: 'name_taken', message: 'Taken', suggestion: 'taken2' });
            return { ok: true };
          }),
        remove: guarded
          .input(z.object({ id: z.int() }))
          .output(z.object({ id: z.number() }))
          .mutation(({ ctx, input }) => {
            if (fresh.has(ctx.credentials.bearer ?? '')) return input;
            throw new AppError('fresh_sign_in_required', 403, {
              code: 'fresh_sign_in_required',
              message: 'Prove again who you are',
              methods: ['password'],
            });
          }),
        slow: guarded.output(z.object({ ok: z.boolean() })).query(() => new Promise<{ ok: boolean }>(() => undefined)),
      }),
      freshSignIn: router({
        prove: guarded
          .input(z.object({ password: z.string() }))
          .output(z.object({ access_token: z.string() }))
          .mutation(({ input }) => {
            inputs.push(input);
            if (input.password !== 'secret') throw new AppError('proof_invalid', 403, 'Invalid password');
            good.add('access-fresh');
            fresh.add('access-fresh');
            return { access_token: 'access-fresh' };
          }),
      }),
      money: router({
        spend: guarded
          .input(z.object({ amount: z.int() }))
          .output(z.object({ key: z.string().nullable(), bearer: z.string().nullable() }))
          .mutation(({ ctx, input }) => {
            spent.push({ key: ctx.idempotencyKey, amount: input.amount });
            return { key: ctx.idempotencyKey, bearer: ctx.credentials.bearer };
          }),
      }),
    }),
  });

  const trpc = createHTTPHandler({
    router: appRouter,
    basePath: '/trpc/',
    createContext: ({ req }) => {
      const bearer = req.headers.authorization?.replace(/^Bearer /, '') ?? null;
      const credentials = { apiKey: null, bearer, initData: null };
      const app = { settings: { get: () => true } } as unknown as App;
      return { app, credentials, idempotencyKey: (req.headers['idempotency-key'] as string) ?? null } as Context;
    },
  });

  async function refresh(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    await knobs.refreshGate;
    const answer = knobs.refreshAnswers.length > 1 ? knobs.refreshAnswers.shift()! : knobs.refreshAnswers[0]!;
    response.setHeader('content-type', 'application/json');
    const isKnown = (JSON.parse(body) as { refresh_token: string }).refresh_token === `refresh-${serial}`;
    if (answer !== 'rotate' || !isKnown) {
      response.statusCode = answer === 'rotate' ? 401 : answer.status;
      response.end(JSON.stringify({ detail: 'Invalid refresh token' }));
      return;
    }
    serial += 1;
    good.add(`access-${serial}`);
    response.end(JSON.stringify({ access_token: `access-${serial}`, refresh_token: `refresh-${serial}`, expires_in: 900 }));
  }

  const server = createServer((request, response) => {
    const url = request.url ?? '';
    seen.push({ url, method: request.method ?? '', headers: request.headers });
    if (url === '/cabinet/auth/refresh') void refresh(request, response);
    else if (url === '/cabinet/auth/logout') response.end('{"message":"bye"}');
    else if (knobs.failures503 > 0) {
      knobs.failures503 -= 1;
      response.statusCode = 503;
      response.end('<html>upstream is away</html>');
    } else {
      if (knobs.cuts > 0) {
        knobs.cuts -= 1;
        response.end = (() => response.destroy()) as never;
        response.write = (() => response.destroy()) as never;
      }
      void trpc(request, response);
    }
  });
  const upgrades = new WebSocketServer({ server, handleProtocols: (protocols) => [...protocols][0] ?? false });
  upgrades.on('connection', (socket, request) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const offered = request.headers['sec-websocket-protocol'] ?? '';
    const credential = /bearer\.([^,\s]+)/.exec(offered)?.[1] ?? url.searchParams.get('token') ?? '';
    sockets.push({ path: url.pathname, credential, after: url.searchParams.get('after'), socket });
    socket.on('message', (data) => {
      if (String(data) === '{"type":"ping"}') socket.send('{"type":"pong"}');
    });
    if (knobs.closeSocketsWith) socket.close(knobs.closeSocketsWith.code, knobs.closeSocketsWith.reason);
    else if (url.pathname === '/cabinet/ws' && !good.has(credential)) socket.close(1008, 'Unauthorized: Invalid token');
    else socket.send(JSON.stringify(knobs.greeting));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    good,
    spent,
    inputs,
    sockets,
    knobs,
    requestsTo: (part: string) => seen.filter(({ url }) => url.includes(part)),
    async stop(): Promise<void> {
      for (const { socket } of sockets) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type TrialService = Awaited<ReturnType<typeof startTrialService>>;
