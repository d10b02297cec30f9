/** The operations that the pages of real clients call first (spec 08 C8), of the groups that are complete. */

import { expect, it } from 'vitest';
import { servedRoutes } from '../support/served-routes.ts';

const SERVED = new Set(servedRoutes.map(({ method, path }) => `${method} ${path}`));

it.each([
  'POST /miniapp/subscription',
  'POST /miniapp/payments/methods',
  'POST /miniapp/subscription/settings',
  'GET /stats/overview',
  'GET /stats/full',
  'GET /cabinet/subscription/app-config',
  'GET /cabinet/admin/payment-methods',
  'PUT /cabinet/admin/payment-methods/{method_id}',
])('08 C8: %s is served', (operation) => {
  expect(SERVED).toContain(operation);
});
