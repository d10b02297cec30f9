/**
 * The router as trpc-to-openapi can read it. The library takes one flat object as the input of a procedure: the path parameters of it, and all
 * others from the query or from the body. Ours come from more places (`wire-plan.ts`), so that each procedure is shown with its input as
 * a request has it: parameters under their names there, and the body as one value, by which its component keeps its name.
 */
import type { AnyTRPCRouter } from '@trpc/server';
import type { OpenApiMeta, OpenApiRouter } from 'trpc-to-openapi';
import { z } from 'zod';
import { publishedForm, type Schema } from '../core/zod-structure.ts';
import { bodyJoinedInto, schemaOf } from '../routers/wire.ts';
import { type CallableProcedure, operationIdOf, proceduresOf, type RestMeta } from './route-table.ts';
import { planWire, type WirePlan, type WireSource } from './wire-plan.ts';

/** Name of the body among the fields of a shown input; no parameter has a blank in its name. */
export const BODY = 'the body';

/** @throws Error on inputs that cannot be served */
export function viewOf(router: AnyTRPCRouter): OpenApiRouter {
  const procedures = proceduresOf(router).map(([name, procedure, meta]) => [name, { _def: shown(name, procedure, meta) }]);
  // The library reads nothing else of a router.
  return { _def: { procedures: Object.fromEntries(procedures) } } as unknown as OpenApiRouter;
}

function shown(name: string, { _def }: CallableProcedure, meta: RestMeta) {
  const plan = planWire(name, meta, _def.inputs.map(schemaOf));
  const { openapi, description, wire } = meta;
  const hasQuery = openapi.method === 'GET' || openapi.method === 'DELETE';
  const body = bodyOf(plan);
  const input = z.object({
    ...parametersOf(plan, hasQuery ? ['path', 'query'] : ['path']),
    ...(body && { [BODY]: hasQuery ? asParameter(body) : body }),
  });
  const shownMeta: OpenApiMeta = {
    openapi: {
      ...openapi,
      operationId: operationIdOf(name),
      ...(description !== undefined && { description }),
      protect: false,
      successDescription: 'Success',
      errorResponses: [],
      contentTypes: [plan.body === 'multipart' ? 'multipart/form-data' : 'application/json'],
      // The library knows no query of a POST: it is shown among the headers.
      requestHeaders: z.object(parametersOf(plan, hasQuery ? ['header'] : ['header', 'query'])),
    },
  };
  const hasJson = wire?.reply === undefined || wire.reply === 'json';
  return {
    type: _def.type,
    meta: shownMeta,
    inputs: plan.fields.length === 0 ? [] : [input],
    output: hasJson && _def.output ? publishedForm(schemaOf(_def.output)) : z.void(),
  };
}

function parametersOf({ fields }: WirePlan, sources: readonly WireSource[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    fields.filter(({ source }) => sources.includes(source)).map(({ name, schema }) => [name, asParameter(schema)]),
  );
}

/** The library refuses parameters that are neither texts nor numbers, unless they are piped. */
function asParameter(schema: Schema): z.ZodType {
  return z.pipe(schema as z.ZodType, z.any());
}

/** The schema of the body by its name: the input when the body is all of it, or the body that the input was joined from. */
function bodyOf({ fields, inputs, body }: WirePlan): z.ZodType | undefined {
  const sent = fields.filter(({ source }) => source === 'body');
  if (sent.length === 0) return undefined;
  if (body === 'whole') return sent[0]!.schema as z.ZodType;
  const [input, ...others] = inputs;
  const named = input && others.length === 0 && (sent.length === fields.length ? input : bodyJoinedInto(input));
  return (named ?? z.object(Object.fromEntries(sent.map(({ name, schema }) => [name, schema])))) as z.ZodType;
}
