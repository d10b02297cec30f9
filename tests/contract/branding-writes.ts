/** Writes of administrators on the look of the cabinet. */
import { unique } from '../support/builders.ts';
import { aPng } from '../support/image-samples.ts';
import { UploadForm } from '../support/upload-form.ts';
import { ADMIN, type AdminWrite, type Fixture } from './admin-write-samples.ts';

const PATH = '/cabinet/branding';

/** A value that differs from the one before, whichever that is. */
const switched = (path: string): AdminWrite => ({
  kind: 'change',
  request: async ({ boss }) => ({ path, body: { enabled: !(await boss.get(path)).body.enabled } }),
});

const changing = (path: string, body: () => unknown): AdminWrite => ({
  kind: 'change',
  request: async () => ({ path, body: body() }),
});

const aLogo = () => new UploadForm(aPng(1, 1), 'image/png');
const color = () => `#${(unique() % 0xfff).toString(16).padStart(3, '0')}`;
const changed = (fixture: Fixture, path: string, body: unknown) => fixture.boss.patch(path, body);

export const BRANDING_WRITES: Record<string, AdminWrite> = {
  [`PUT ${PATH}/name`]: changing(`${PATH}/name`, () => ({ name: `Cabinet ${unique()}` })),
  [`POST ${PATH}/logo`]: { kind: 'change', request: async () => ({ path: `${PATH}/logo`, body: aLogo() }) },
  [`DELETE ${PATH}/logo`]: {
    kind: 'change',
    request: async ({ boss }) => {
      await boss.post(`${PATH}/logo`, aLogo());
      return { path: `${PATH}/logo` };
    },
  },
  [`PATCH ${PATH}/colors`]: changing(`${PATH}/colors`, () => ({ accent: color() })),
  [`POST ${PATH}/colors/reset`]: {
    kind: 'change',
    request: async (fixture) => {
      await changed(fixture, `${PATH}/colors`, { accent: color() });
      return { path: `${PATH}/colors/reset` };
    },
  },
  [`PATCH ${PATH}/themes`]: {
    kind: 'change',
    request: async ({ boss }) => {
      const { dark } = (await boss.get(`${PATH}/themes`)).body;
      return { path: `${PATH}/themes`, body: { dark: !dark, light: true } };
    },
  },
  [`PATCH ${PATH}/animation`]: switched(`${PATH}/animation`),
  [`PATCH ${PATH}/animation-config`]: changing(`${PATH}/animation-config`, () => ({ settings: { speed: unique() } })),
  [`PATCH ${PATH}/fullscreen`]: switched(`${PATH}/fullscreen`),
  [`PATCH ${PATH}/lite-mode`]: switched(`${PATH}/lite-mode`),
  [`PATCH ${PATH}/gift-enabled`]: switched(`${PATH}/gift-enabled`),
  [`PATCH ${PATH}/email-auth`]: switched(`${PATH}/email-auth`),
  [`PATCH ${PATH}/analytics`]: changing(`${PATH}/analytics`, () => ({ yandex_metrika_id: String(unique()) })),

  'PATCH /button-styles': changing('/button-styles', () => ({ home: { icon_custom_emoji_id: String(unique()) } })),
  'POST /button-styles/reset': {
    kind: 'change',
    request: async (fixture) => {
      await changed(fixture, `${ADMIN}/button-styles`, { home: { icon_custom_emoji_id: String(unique()) } });
      return { path: '/button-styles/reset' };
    },
  },
};
