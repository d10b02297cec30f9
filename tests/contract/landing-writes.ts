/** Writes of administrators on sales pages. */
import { aLandingBody } from '../support/landing-stage.ts';
import { ADMIN, type AdminWrite, made, type Stage } from './admin-write-samples.ts';

const aPage = (stage: Stage) => made(stage, `${ADMIN}/landings`, aLandingBody());

export const LANDING_WRITES: Record<string, AdminWrite> = {
  'POST /landings': { kind: 'creation', request: async () => ({ path: '/landings', body: aLandingBody() }) },
  'PUT /landings/order': {
    kind: 'change',
    request: async (stage) => {
      const [first, second] = [await aPage(stage), await aPage(stage)];
      return { path: '/landings/order', body: { landing_ids: [second, first] } };
    },
  },
  'PUT /landings/{landing_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/landings/${await aPage(stage)}`, body: { title: { ru: 'Весна' } } }),
  },
  'DELETE /landings/{landing_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/landings/${await aPage(stage)}` }),
  },
  'POST /landings/{landing_id}/toggle': {
    kind: 'change',
    request: async (stage) => ({ path: `/landings/${await aPage(stage)}/toggle` }),
  },
};
