import { Readable } from 'node:stream';
import { type AnyTRPCRouter, initTRPC } from '@trpc/server';
import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../../src/core/errors.ts';
import { type FileReply, fileReply, type RedirectReply, redirectReply } from '../../../src/core/http/http-client.ts';
import { registerRest } from '../../../src/rest/dispatcher.ts';
import { restServerOptions } from '../../../src/rest/http-limits.ts';
import { buildOpenApiDocument } from '../../../src/rest/openapi-document.ts';
import type { RestRoute } from '../../../src/rest/route-table.ts';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { Timestamp } from '../../../src/routers/shared.schemas.ts';
import { FileField } from '../../../src/routers/web/media.schemas.ts';

export interface TestContext {
  user: string | undefined;
}

export const t = initTRPC.context<TestContext>().meta<OperationMeta>().create({ isDev: false });

type Openapi = NonNullable<OperationMeta['openapi']>;

export function meta(method: Openapi['method'], path: Openapi['path'], more: Omit<OperationMeta, 'openapi'> = {}): OperationMeta {
  return { openapi: { method, path, tags: ['Things'], summary: `${method} ${path}` }, area: 'web', auth: 'NONE', ...more };
}

export const open = t.procedure;
const guarded = t.procedure.use(({ ctx, next }) => {
  if (ctx.user === undefined) {
    throw new AppError('unauthorized', 401, 'Not authenticated', { headers: { 'www-authenticate': 'Bearer' } });
  }
  return next();
});

export const Filters = z.object({
  limit: z.int().min(1).max(200).default(50),
  active: z.boolean().nullable().default(null),
  ids: z.array(z.int()).optional(),
  status: z.enum(['open', 'closed']).nullish(),
  ratio: z.number().optional(),
  since: z.iso.datetime({ offset: true, local: true }).meta({ format: 'date-time' }).nullish(),
  search: z.string().min(2).nullish(),
});

const CreateThing = z
  .object({
    name: z.string().min(3).max(10),
    price_kopeks: z.int().min(0).default(100),
    tags: z.array(z.string()).max(2).optional(),
  })
  .meta({ id: 'CreateThing' });
export const Thing = z
  .object({ id: z.int(), name: z.string(), created_at: Timestamp.optional(), remark: z.string().default('') })
  .meta({ id: 'Thing' });

export const thingRouter = t.router({
  things: t.router({
    list: open
      .meta(meta('GET', '/things'))
      .input(Filters)
      .output(z.unknown())
      .query(({ input }) => input),
    create: guarded
      .meta(meta('POST', '/things', { auth: 'KEY', idempotent: true }))
      .input(CreateThing)
      .output(Thing)
      .mutation(({ input }) => ({ id: 1, name: input.name, remark: '' })),
    get: open
      .meta(meta('GET', '/things/{thing_id}'))
      .input(z.object({ thing_id: z.int() }))
      .output(Thing)
      .query(({ input }) => ({ id: input.thing_id, name: 'by id', created_at: new Date(0), remark: '' })),
    summary: open
      .meta(meta('GET', '/things/summary'))
      .output(z.object({ total: z.int() }))
      .query(() => ({ total: 7 })),
    update: open
      .meta(meta('PATCH', '/things/{thing_id}'))
      .input(z.object({ thing_id: z.int(), name: z.string().nullish(), price_kopeks: z.int().optional() }))
      .output(z.unknown())
      .mutation(({ input }) => input),
    remove: guarded
      .meta(meta('DELETE', '/things/{thing_id}', { auth: 'JWT_ADMIN', permissions: ['things:delete'] }))
      .input(z.object({ thing_id: z.int() }))
      .mutation(() => undefined),
    erase: open
      .meta(meta('DELETE', '/things/{thing_id}/full', { wire: { body: ['reason', 'hard'], bodyOptional: true } }))
      .input(z.object({ thing_id: z.int(), reason: z.string().optional(), hard: z.boolean().default(false) }))
      .mutation(({ input }) => input),
    run: open
      .meta(meta('POST', '/things/run'))
      .output(z.object({ ran: z.boolean() }))
      .mutation(() => ({ ran: true })),
    click: open
      .meta(meta('POST', '/things/{thing_id}/click', { wire: { query: ['source', 'times'] } }))
      .input(z.object({ thing_id: z.int(), source: z.string(), times: z.int().default(1) }))
      .mutation(({ input }) => input),
    answer: open
      .meta(meta('POST', '/rounds/{round_id}/answer', { wire: { pathKeys: { round_id: 'path_round_id' } } }))
      .input(z.object({ path_round_id: z.int(), round_id: z.int(), text: z.string() }))
      .mutation(({ input }) => input),
    replaceMap: open
      .meta(meta('PUT', '/things/map', { wire: { wholeBodyKey: 'map' } }))
      .input(z.object({ map: z.record(z.string(), z.int()) }))
      .mutation(({ input }) => input.map),
    status: open
      .meta(meta('PUT', '/things/status', { wire: { wholeBodyKey: 'change' } }))
      .input(z.object({ change: z.object({ on: z.boolean() }).nullable() }))
      .mutation(({ input }) => input),
    keyed: open
      .meta(meta('POST', '/things/keyed', { wire: { headers: { 'X-Count': 'count' } } }))
      .input(z.object({ count: z.int().min(1), name: z.string() }))
      .mutation(({ input }) => input),
    union: open
      .meta(meta('POST', '/things/union'))
      .input(
        z.object({
          target: z.discriminatedUnion('kind', [
            z.object({ kind: z.literal('user'), id: z.int() }),
            z.object({ kind: z.literal('all') }),
          ]),
        }),
      )
      .mutation(({ input }) => input),
    upload: guarded
      .meta(meta('POST', '/things/upload', { auth: 'KEY', wire: { multipart: { fileKey: 'file', maxBytes: 1000 } } }))
      .input(
        z.object({
          file: FileField,
          size: z.int().min(1).default(5),
          caption: z.string().nullish(),
        }),
      )
      .mutation(({ input }) => ({
        name: input.file.filename,
        type: input.file.contentType,
        text: input.file.content.toString(),
        size: input.size,
        caption: input.caption,
      })),
    uploadBeginning: guarded
      .meta(
        meta('POST', '/things/upload-beginning', {
          auth: 'KEY',
          wire: { multipart: { fileKey: 'file', maxBytes: 1000, givesBeginning: true } },
        }),
      )
      .input(z.object({ file: FileField }))
      .mutation(({ input: { file } }) => ({ bytes: file.content.length, isTruncated: file.isTruncated })),
    tagged: open
      .meta(meta('GET', '/things/tagged', { wire: { hasEtag: true } }))
      .input(z.object({ value: z.int() }))
      .output(z.object({ value: z.int() }))
      .query(({ input }) => input),
    taggedFile: open
      .meta(meta('GET', '/things/tagged-file', { wire: { reply: 'file' } }))
      .output(z.custom<FileReply>())
      .query(() =>
        fileReply({
          filename: 'a.csv',
          contentType: 'text/csv',
          body: Buffer.from('a;b'),
          etag: '"v1"',
          headers: { 'cache-control': 'public, max-age=60' },
        }),
      ),
    download: open
      .meta(meta('GET', '/things/file/{name}', { wire: { reply: 'file' } }))
      .input(z.object({ name: z.string(), stream: z.boolean().default(false) }))
      .output(z.custom<FileReply>())
      .query(({ input }) =>
        fileReply({
          filename: input.name,
          contentType: 'text/csv',
          body: input.stream ? Readable.from(['a;', 'b']) : Buffer.from('a;b'),
        }),
      ),
    go: open
      .meta(meta('GET', '/things/go', { wire: { reply: 'redirect' } }))
      .output(z.custom<RedirectReply>())
      .query(() => redirectReply('https://example.com/путь?a=1%20b')),
    badOutput: open
      .meta(meta('GET', '/bad/output'))
      .output(z.object({ n: z.int() }))
      .query(() => ({ n: 'text' }) as unknown as { n: number }),
    away: open.meta(meta('GET', '/bad/away')).query(() => {
      throw new AppError('maintenance', 503, 'Maintenance', { cause: new Error('panel timed out') });
    }),
    refused: open.meta(meta('POST', '/bad/refused')).mutation(() => {
      throw new AppError('insufficient_funds', 402, { code: 'insufficient_funds', message: 'Not enough', missing_kopeks: 5 });
    }),
    crash: open.meta(meta('GET', '/bad/crash')).query(() => {
      throw new Error('secret: connect ECONNREFUSED db.internal:5432');
    }),
    cyclic: open.meta(meta('GET', '/bad/cyclic')).query(() => {
      const value: { self?: unknown } = {};
      value.self = value;
      return value;
    }),
    trpcOnly: open.query(() => 'not in REST'),
  }),
});

export interface TestServer {
  app: FastifyInstance;
  routes: RestRoute[];
  logged: { level: 'error' | 'warn'; details: object; message: string }[];
  /** Codes of the refusals. */
  refusals: string[];
}

/** The document of a router with its routes. */
export const documented = (router: AnyTRPCRouter) => buildOpenApiDocument(router, { title: 'Things', version: '1.0.0' });

/** A server over the router; the context's user is the `x-user` header. */
export async function restServer(router: AnyTRPCRouter = thingRouter): Promise<TestServer> {
  const app = Fastify({ ...restServerOptions });
  const logged: TestServer['logged'] = [];
  const refusals: string[] = [];
  const { routes } = documented(router);
  await registerRest(app, {
    routes,
    createContext: (request) => ({ user: request.headers['x-user'] }),
    log: {
      error: (details, message) => void logged.push({ level: 'error', details, message }),
      warn: (details, message) => void logged.push({ level: 'warn', details, message }),
    },
    observeRefusal: (_operation, { code }) => void refusals.push(code),
  });
  await app.ready();
  return { app, routes, logged, refusals };
}
