/** A mutation of the Web API or the administration names its audit action, or says why there is none: by type. */

import { expect, it } from 'vitest';
import { adminProcedure, auditedWebProcedure, unaudited, webProcedure } from '../../../src/routers/trpc.ts';
import { servedRoutes } from '../../support/served-routes.ts';

it('a procedure without an audit action has no mutation', () => {
  // Only compiled.
  const _refused = () => {
    // @ts-expect-error an API token changes something under no action
    webProcedure.mutation(() => 1);
    // @ts-expect-error the same behind metadata
    webProcedure.meta({}).mutation(() => 1);
    // @ts-expect-error an administrator changes something with a permission to read
    adminProcedure('users:read').mutation(() => 1);
    // @ts-expect-error an action that reads is no action of a change
    auditedWebProcedure('users:read').mutation(() => 1);
    // @ts-expect-error not of the form section:action
    adminProcedure('users');
    // @ts-expect-error no reason
    unaudited(webProcedure).mutation(() => 1);
  };
  const allowed = [
    webProcedure.query(() => 1),
    auditedWebProcedure('users:edit').mutation(() => 1),
    adminProcedure('users:edit').mutation(() => 1),
    unaudited('Changes nothing.', webProcedure).mutation(() => 1),
  ];
  expect(allowed.map(({ _def }) => _def.type)).toEqual(['query', 'mutation', 'mutation', 'mutation']);
});

it('every mutation of both areas has an action, or the reason why it has none', () => {
  const writes = servedRoutes.filter(({ meta, method }) => /^(?:KEY|JWT_ADMIN)$/.test(meta.auth ?? '') && method !== 'GET');
  const unnamed = writes.filter(
    ({ meta }) => meta.unaudited === undefined && (meta.recordedAs ?? meta.permissions?.[0]) === undefined,
  );
  expect(unnamed.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  expect(writes.filter(({ meta }) => meta.unaudited !== undefined).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /menu-layout/preview',
    'POST /menu-layout/validate',
    'POST /menu-layout/stats/log-click',
    'POST /cabinet/admin/email-templates/{notification_type}/preview',
    'POST /cabinet/admin/broadcasts/preview',
    'POST /cabinet/admin/broadcasts/email-preview',
  ]);
});
