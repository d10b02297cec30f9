import type { FastifyInstance } from 'fastify';
import { adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import type { TestApp } from '../support/test-app.ts';
import { UploadForm } from '../support/upload-form.ts';
import { ADMIN } from './admin-write-samples.ts';
import { ADMIN_WRITES } from './admin-writes.ts';
import { acceptedBody, equip, existingPath } from './existing-things.ts';
import { type DocumentedOperation, exampleBody, pathFor, signExamples, wholeBody, wholeQuery } from './operation-cases.ts';
import { OWNED } from './owned-objects.ts';

export interface RightRequest {
  client: ApiClient;
  path: string;
  body: unknown;
}

/** A request of an operation with things that exist, by callers of its own, since some operations end who calls them. */
export async function rightRequest(
  t: TestApp,
  server: FastifyInstance,
  name: string,
  operation: DocumentedOperation,
): Promise<RightRequest> {
  const { app } = t;
  const owner = await userClient(app, server);
  const boss = await adminClient(app, server, ['*:*'], 900);
  const api = await tokenClient(app, server);
  const fixture = { app, api, user: owner.user };
  await equip(fixture);
  signExamples([operation], initDataOf(t, owner.user));
  const client = { NONE: clientOf(server), KEY: api, JWT: owner, JWT_ADMIN: boss }[operation.auth]!;
  const example = acceptedBody(name) ?? exampleBody(operation);
  const write = operation.auth === 'JWT_ADMIN' ? ADMIN_WRITES[name.replace(ADMIN, '')] : undefined;
  if (write) {
    const { path, body } = await write.request({ app, boss });
    return { client, path: path.startsWith('/cabinet/') ? path : `${ADMIN}${path}`, body: body ?? example };
  }
  const owned = await OWNED[name]?.make({ app, owner });
  if (owned) return { client, path: owned.pathWith(owned.id), body: owned.body ?? example };
  const path = await existingPath(fixture, operation.path);
  return { client, path: pathFor({ ...operation, path }, 1), body: example };
}

/** The same request with each parameter and each field of the document; null where there is none besides. */
export function wholeRequest(right: RightRequest, operation: DocumentedOperation): RightRequest | null {
  const query = wholeQuery(operation);
  const body = right.body instanceof UploadForm ? right.body : wholeBody(operation, right.body);
  if (query === '' && isSame(body, right.body)) return null;
  return { ...right, path: query === '' ? right.path : `${right.path.split('?', 1)[0]}?${query}`, body };
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A walk over all operations asks limited ones more often than one caller may. */
export async function sendUnlimited(t: TestApp, client: ApiClient, ...request: Parameters<ApiClient['send']>): Promise<ApiReply> {
  const reply = await client.send(...request);
  if (reply.status !== 429) return reply;
  await t.app.db.sql('DELETE FROM rate_limit_windows');
  return client.send(...request);
}
