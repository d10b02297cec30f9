/** The REST routes of a tRPC router, built once at start from the operations of its API document. */
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
export type RestMeta = OperationMeta & { openapi: OpenApiFacts };

/** An operation of the API document. */
export interface Operation {
  method: OpenApiFacts['method'];
  /** Contract path with `{name}` parameters and no trailing slash. */
  path: string;
  operationId: string;
}

export interface RestRoute extends Operation {
  /** The path in fastify's syntax. */
  url: string;
  /** Dotted name in the router, unique. */
  procedurePath: string;
  type: 'query' | 'mutation';
  procedure: CallableProcedure;
  meta: RestMeta;
  plan: WirePlan;
  decoder: WireDecoder;
  output: Schema | undefined;
}

/**
 * The procedures with `meta.openapi`; the others are for tRPC only.
 * @throws Error on lazy routers
 */
export function proceduresOf(router: AnyTRPCRouter): [name: string, procedure: CallableProcedure, meta: RestMeta][] {
  if (Object.keys(router._def.lazy).length > 0) throw new Error('Lazy routers cannot be served over REST: import them eagerly');
  // tRPC's public type of a procedure does not declare `_def`; this is the shape that it documents for adapters.
  const procedures = Object.entries(router._def.procedures as unknown as Record<string, CallableProcedure>);
  return procedures.flatMap(([name, procedure]) => {
    const { meta } = procedure._def;
    return meta?.openapi === undefined ? [] : [[name, procedure, { ...meta, openapi: meta.openapi }]];
  });
}

/** The operations of a document. */
export function operationsOf({ paths }: { paths: Record<string, Record<string, { operationId: string }>> }): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      method: method.toUpperCase() as Operation['method'],
      path,
      operationId,
    })),
  );
}

/** A contract path as the document has it. */
export const documentedPath = (path: string): string => path.replace(/(.)\/$/, '$1');

export const operationIdOf = (procedurePath: string): string => procedurePath.replaceAll('.', '_');

/**
 * @param operations those of the document of this router
 * @throws Error on two operations with the same method and path, and when the document is not of this state of the router
 */
export function buildRouteTable(router: AnyTRPCRouter, operations: readonly Operation[]): RestRoute[] {
  const procedures = new Map(proceduresOf(router).map((entry) => [operationIdOf(entry[0]), entry]));
  const owners = new Map<string, string>();
  const routes = operations.map((operation) => {
    const entry = procedures.get(operation.operationId);
    const place = entry && `${entry[2].openapi.method} ${documentedPath(entry[2].openapi.path)}`;
    if (entry === undefined || place !== `${operation.method} ${operation.path}`) throw otherState(operation.operationId);
    const route = buildRoute(operation, ...entry);
    const key = `${route.method} ${pathShape(route.path)}`;
    const owner = owners.get(key);
    if (owner !== undefined) throw new Error(`${key} is served by both ${owner} and ${route.procedurePath}`);
    owners.set(key, route.procedurePath);
    procedures.delete(operation.operationId);
    return route;
  });
  for (const missing of procedures.keys()) throw otherState(missing);
  return routes;
}

function otherState(operationId: string): Error {
  return new Error(`The API document is of another state of the router, see ${operationId}. Make it again: npm run build`);
}

/** A path with the names of its parameters left out: two paths of one shape are one route. */
function pathShape(path: string): string {
  return path.replace(/\{[^}]+\}/g, '{}');
}

function buildRoute(operation: Operation, procedurePath: string, procedure: CallableProcedure, meta: RestMeta): RestRoute {
  const { type, inputs, output } = procedure._def;
  if (type === 'subscription') throw new Error(`${procedurePath}: a subscription cannot be served over REST`);
  const parameters = pathParameters(operation.path);
  if (new Set(parameters).size !== parameters.length)
    throw new Error(`${procedurePath}: ${operation.path} names a parameter twice`);
  const plan = planWire(procedurePath, meta, inputs.map(schemaOf));
  return {
    ...operation,
    url: operation.path.replaceAll(':', '::').replace(/\{([^}]+)\}/g, ':$1'),
    procedurePath,
    type,
    procedure,
    meta,
    plan,
    decoder: compileDecoder(plan),
    output: output && schemaOf(output),
  };
}
