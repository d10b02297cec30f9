/** Writes of administrators on sales pages. */
import { aLandingBody } from '../support/landing-fixture.ts';
import { ADMIN, type AdminWrite, type Fixture, made } from './admin-write-samples.ts';

const aPage = (fixture: Fixture) => made(fixture, `${ADMIN}/landings`, aLandingBody());

export const LANDING_WRITES: Record<string, AdminWrite> = {
  'POST /landings': { kind: 'creation', request: async () => ({ path: '/landings', body: aLandingBody() }) },
  'PUT /landings/order': {
    kind: 'change',
    request: async (fixture) => {
      const [first, second] = [await aPage(fixture), await aPage(fixture)];
      return { path: '/landings/order', body: { landing_ids: [second, first] } };
    },
  },
  'PUT /landings/{landing_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/landings/${await aPage(fixture)}`, body: { title: { ru: 'Весна' } } }),
  },
  'DELETE /landings/{landing_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/landings/${await aPage(fixture)}` }),
  },
  'POST /landings/{landing_id}/toggle': {
    kind: 'change',
    request: async (fixture) => ({ path: `/landings/${await aPage(fixture)}/toggle` }),
  },
};
