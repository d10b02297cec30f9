/** Who may enter what: every served operation, every kind of actor, and the answer that area, auth and permissions demand. */

import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { PERMISSION_CATALOGUE } from '../../src/domain/access/permissions.ts';
import type { RestRoute } from '../../src/rest/route-table.ts';
import { adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { documentOfService, servedRoutes } from '../support/served-routes.ts';
import type { TestApp } from '../support/test-app.ts';
import { type DocumentedOperation, exampleBody, operationsOf, signExamples } from './operation-cases.ts';

const operations = operationsOf(documentOfService as never);
export const UNKNOWN_ID = 2_147_000_000;

export interface Cell {
  name: string;
  operation: DocumentedOperation;
  route: RestRoute;
}

export const cells: Cell[] = operations.map((operation) => {
  const route = servedRoutes.find((candidate) => candidate.method === operation.method && candidate.path === operation.path)!;
  return { name: `${operation.method} ${operation.path}`, operation, route };
});
export type ActorKind = 'nobody' | 'user' | 'other user' | 'token' | 'token as bearer' | 'without it' | 'with it' | 'superadmin';
export const KINDS: ActorKind[] = [
  'nobody',
  'user',
  'other user',
  'token',
  'token as bearer',
  'without it',
  'with it',
  'superadmin',
];

/** The refusal that area, auth and permissions demand; null = the actor is let in. */
export function refusalFor(kind: ActorKind, auth: string): { status: number; detail: string } | null {
  const isToken = kind === 'token' || kind === 'token as bearer';
  if (auth === 'NONE') return null;
  if (auth === 'KEY') {
    if (kind === 'nobody') return { status: 401, detail: 'Missing API key' };
    return isToken ? null : { status: 401, detail: 'Invalid or expired API key' };
  }
  if (kind === 'nobody' || kind === 'token') return { status: 401, detail: 'Authentication required' };
  if (kind === 'token as bearer') return { status: 401, detail: 'Invalid or expired token' };
  if (auth === 'JWT') return null;
  if (kind === 'user' || kind === 'other user') {
    return { status: 403, detail: 'Permission denied: No active roles assigned' };
  }
  return kind === 'without it' ? { status: 403, detail: 'Permission denied: Permission not granted by any role' } : null;
}

/** One client of each kind of actor. */
export class Actors {
  readonly #plain = new Map<ActorKind, ApiClient>();
  readonly #holders = new Map<string, ApiClient>();
  readonly #others = new Map<string, ApiClient>();

  /** Makes the users, administrators and the token in the database of `t`. */
  static async make(t: TestApp, server: FastifyInstance): Promise<Actors> {
    const actors = new Actors();
    const owner = await userClient(t.app, server);
    signExamples(operations, initDataOf(t, owner.user));
    const token = await tokenClient(t.app, server);
    actors.#plain.set('nobody', clientOf(server));
    actors.#plain.set('user', owner);
    actors.#plain.set('other user', await userClient(t.app, server));
    actors.#plain.set('token', token);
    actors.#plain.set('token as bearer', clientOf(server, { authorization: `Bearer ${token.token}` }));
    actors.#plain.set('superadmin', await adminClient(t.app, server, ['*:*'], 999));
    const catalogue = Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) =>
      actions.map((action) => `${section}:${action}`),
    );
    for (const permission of new Set(servedRoutes.flatMap((route) => route.meta.permissions ?? []))) {
      expect(catalogue).toContain(permission);
      actors.#holders.set(permission, await adminClient(t.app, server, [permission]));
      const others = catalogue.filter((other) => other !== permission);
      actors.#others.set(permission, await adminClient(t.app, server, others));
    }
    return actors;
  }

  /** For operations without a permission the two administrators are any two. */
  clientFor(kind: ActorKind, route: RestRoute): ApiClient {
    const permission = route.meta.permissions?.[0] ?? [...this.#holders.keys()][0]!;
    if (kind === 'with it') return this.#holders.get(permission)!;
    return kind === 'without it' ? this.#others.get(permission)! : this.#plain.get(kind)!;
  }
}

export const send = (client: ApiClient, { operation }: Cell, path: string): Promise<ApiReply> =>
  client.send(operation.method, path, exampleBody(operation));
