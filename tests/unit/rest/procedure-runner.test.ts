import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AppError } from '../../../src/core/errors.ts';
import { runnerFor } from '../../../src/rest/procedure-runner.ts';
import type { CallableProcedure } from '../../../src/rest/route-table.ts';
import { t } from './rest-fixture.ts';

const withRole = t.procedure.use(({ ctx, next }) => next({ ctx: { role: `${ctx.user}-role` } }));
const router = t.router({
  plain: t.procedure.query(() => 1),
  nothing: t.procedure.mutation(() => undefined),
  context: withRole.input(z.object({ n: z.int() })).query(({ ctx, input }) => ({ ...ctx, ...input })),
  twoInputs: withRole
    .input(z.object({ a: z.int() }))
    .use(({ input, next }) => next({ ctx: { seen: input.a } }))
    .input(z.object({ b: z.int().default(2) }))
    .query(({ ctx, input }) => [ctx.seen, ctx.role, input]),
  rawInput: t.procedure
    .use(({ next }) => next({ getRawInput: async () => ({ n: 42 }) }))
    .input(z.object({ n: z.int() }))
    .query(({ input }) => input.n),
  facts: t.procedure
    .meta({ area: 'cabinet' })
    .use(async ({ path, type, meta, batchIndex, signal, getRawInput, next }) =>
      next({ ctx: { facts: [path, type, meta, batchIndex, signal, await getRawInput()] } }),
    )
    .query(({ ctx }) => ctx.facts),
  output: t.procedure.output(z.object({ n: z.int() }).strip()).query(() => ({ n: 1, secret: 2 })),
  badOutput: t.procedure.output(z.object({ n: z.int() })).query(() => ({ n: 'x' }) as unknown as { n: number }),
  refused: t.procedure.mutation(() => {
    throw new AppError('nope', 409, 'Conflict');
  }),
  thrownText: t.procedure.mutation(() => {
    throw 'text';
  }),
  guardFirst: t.procedure
    .use(() => {
      throw new AppError('unauthorized', 401, 'Not authenticated');
    })
    .input(z.object({ n: z.int() }))
    .query(() => 1),
  observed: t.procedure
    .use(async ({ next }) => {
      const result = await next();
      if (!result.ok) throw new AppError('seen', 418, `seen ${result.error.code}`);
      return result;
    })
    .input(z.object({ n: z.int() }))
    .query(({ input }) => input.n),
});

const inputs: unknown[] = [undefined, { n: 5 }, { n: 'x' }, { a: 1 }, { a: 1, b: 3 }, 'text'];
const procedures = Object.entries(router._def.procedures as unknown as Record<string, CallableProcedure>);

async function outcome(promise: Promise<unknown>) {
  try {
    return { value: await promise };
  } catch (error) {
    const { name, code, message, cause } = error as Error & { code: string };
    return { error: { name, code, message, cause: cause instanceof Error ? [cause.name, cause.message] : cause } };
  }
}

describe('runnerFor', () => {
  it.each(procedures)('does exactly what calling %s does', async (path, procedure) => {
    for (const input of inputs) {
      const call = {
        ctx: { user: 'ann' },
        getRawInput: async () => input,
        path,
        type: procedure._def.type,
        signal: new AbortController().signal,
        batchIndex: 3,
      };
      expect(await outcome(runnerFor(procedure)(call))).toEqual(await outcome(procedure(call)));
    }
  });

  it('calls a procedure whose chain it cannot see directly', () => {
    const hidden = Object.assign(async () => 'called', { _def: {} });
    expect(runnerFor(hidden)).toBe(hidden);
  });

  it('passes a rejected input on as the middleware receives it', async () => {
    const [, procedure] = procedures.find(([path]) => path === 'context')!;
    const getRawInput = () => Promise.reject(new AppError('unsupported_media_type', 415, 'Unsupported Media Type'));
    const call = { ctx: {}, getRawInput, path: 'context', type: 'query' as const, signal: undefined, batchIndex: 0 };
    expect(await outcome(runnerFor(procedure)(call))).toEqual(await outcome(procedure(call)));
  });
});
