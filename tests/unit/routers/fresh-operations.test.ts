import { describe, expect, it } from 'vitest';
import { servedRoutes } from '../../support/served-routes.ts';

const changes = servedRoutes.filter(({ method }) => method !== 'GET');
const fresh = servedRoutes.filter(({ meta }) => meta.needsFreshSignIn);
const nameOf = ({ method, path }: (typeof servedRoutes)[number]) => `${method} ${path}`;

/** Permissions whose every change cannot be undone, or gives rights (spec 01 section 4.6). */
const PERMISSIONS =
  /^(roles:.*|withdrawals:approve|payment_methods:edit|partners:settings|users:delete|personal_data:(export|erase)|api_tokens:.*)$/;
const OTHERS = [
  'POST /cabinet/admin/approvals/{approval_id}/approve',
  'PUT /cabinet/admin/settings/{key}',
  'DELETE /cabinet/admin/settings/{key}',
  'DELETE /cabinet/admin/vpnpanel/squads/{squad_uuid}',
];
const WAYS_TO_SIGN_IN = [
  'POST /cabinet/auth/email/register',
  'POST /cabinet/auth/email/change',
  'GET /cabinet/auth/account/link/{provider}/init',
  'POST /cabinet/auth/account/link/{provider}/callback',
  'POST /cabinet/auth/account/link/messenger',
  'POST /cabinet/auth/account/unlink/{provider}',
];

describe('operations that need a fresh sign-in', () => {
  it('are all changes under these permissions, some others, and the ways to sign in', () => {
    const byPermission = changes.filter(({ meta }) => meta.permissions?.some((permission) => PERMISSIONS.test(permission)));
    expect(fresh.map(nameOf).sort()).toEqual([...byPermission.map(nameOf), ...OTHERS, ...WAYS_TO_SIGN_IN].sort());
  });

  it('document the refusal', () => {
    for (const { meta } of fresh) expect(meta.guardRefuses?.map(({ code }) => code)).toContain('fresh_sign_in_required');
  });
});
