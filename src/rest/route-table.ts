/** The REST routes of a tRPC router, built once at start from `meta.openapi` of its procedures. */
import type { AnyTRPCRouter } from '@trpc/server';
import type { Schema } from '../core/zod-structure.ts';
import type { OperationMeta } from '../routers/operation-meta.ts';
import { schemaOf, type WireParser } from '../routers/wire.ts';
import { compileDecoder, type WireDecoder } from './wire-decoder.ts';
import { pathParameters, planWire, type WirePlan } from './wire-plan.ts';

/** A procedure as tRPC's own adapters and callers call it. */
export interface CallableProcedure {
  (call: {
    ctx: unknown;
    getRawInput: () => Promise<unknown>;
    path: string;
    type: 'query' | 'mutation' | 'subscription';
    signal: AbortSignal | undefined;
    batchIndex: number;
  }): Promise<unknown>;
  _def: {
    type: 'query' | 'mutation' | 'subscription';
    meta?: OperationMeta;
    inputs: (Schema | WireParser<unknown, unknown>)[];
    output?: Schema | WireParser<unknown, unknown>;
  };
}

type OpenApiFacts = NonNullable<OperationMeta['openapi']>;

export interface RestRoute {
  method: OpenApiFacts['method'];
  /** Contract path with `{name}` parameters and no trailing slash. */
  path: string;
  /** The same path in fastify's syntax. */
  url: string;
  /** Dotted name in the router, unique. */
  procedurePath: string;
  type: 'query' | 'mutation';
  procedure: CallableProcedure;
  meta: OperationMeta & { openapi: OpenApiFacts };
  plan: WirePlan;
  decoder: WireDecoder;
  output: Schema | undefined;
}

/**
 * Procedures without `meta.openapi` are for tRPC only and are left out.
 * @throws Error on two procedures with the same method and path, on lazy routers and on inputs that cannot be served
 */
export function buildRouteTable(router: AnyTRPCRouter): RestRoute[] {
  if (Object.keys(router._def.lazy).length > 0) throw new Error('Lazy routers cannot be served over REST: import them eagerly');
  // tRPC's public type of a procedure does not declare `_def`; this is the shape that it documents for adapters.
  const procedures = router._def.procedures as unknown as Record<string, CallableProcedure>;
  const owners = new Map<string, string>();
  const routes: RestRoute[] = [];
  for (const [procedurePath, procedure] of Object.entries(procedures)) {
    const meta = procedure._def.meta;
    if (meta?.openapi === undefined) continue;
    const route = buildRoute(procedurePath, procedure, { ...meta, openapi: meta.openapi });
    const key = `${route.method} ${pathShape(route.path)}`;
    const owner = owners.get(key);
    if (owner !== undefined) throw new Error(`${key} is served by both ${owner} and ${procedurePath}`);
    owners.set(key, procedurePath);
    routes.push(route);
  }
  return routes;
}

/** A path with the names of its parameters left out: two paths of one shape are one route. */
function pathShape(path: string): string {
  return path.replace(/\{[^}]+\}/g, '{}');
}

function buildRoute(procedurePath: string, procedure: CallableProcedure, meta: RestRoute['meta']): RestRoute {
  const type = procedure._def.type;
  if (type === 'subscription') throw new Error(`${procedurePath}: a subscription cannot be served over REST`);
  const path = meta.openapi.path.replace(/(.)\/$/, '$1');
  const parameters = pathParameters(path);
  if (new Set(parameters).size !== parameters.length) throw new Error(`${procedurePath}: ${path} names a parameter twice`);
  const plan = planWire(procedurePath, meta, procedure._def.inputs.map(schemaOf));
  return {
    method: meta.openapi.method,
    path,
    url: path.replaceAll(':', '::').replace(/\{([^}]+)\}/g, ':$1'),
    procedurePath,
    type,
    procedure,
    meta,
    plan,
    decoder: compileDecoder(plan),
    output: procedure._def.output && schemaOf(procedure._def.output),
  };
}
