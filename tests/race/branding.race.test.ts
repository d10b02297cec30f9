import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import {
  changeAnimation,
  changeColors,
  changeCounters,
  loadBranding,
  switchAnimation,
} from '../../src/domain/content/branding/branding.ts';
import { removeLogo, replaceLogo } from '../../src/domain/content/branding/logo.ts';
import { COLOR_FIELDS } from '../../src/domain/content/branding/types.ts';
import { CABINET_SECTIONS, changeButtonLooks, readButtonLooks } from '../../src/domain/content/menu-layout/cabinet-menu.ts';
import { aPng } from '../support/image-samples.ts';
import { times } from '../support/parallel.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('branding raced by two instances', () => {
  let apps: App[];
  beforeAll(async () => {
    const one = await testApp();
    apps = [one.app, (await testApp({ clock: one.clock })).app];
  });
  beforeEach(async () => {
    await apps[0]!.db.sql("DELETE FROM system_settings WHERE key LIKE 'CABINET\\_%'");
    await apps[0]!.db.sql('DELETE FROM branding_images');
    await apps[0]!.db.sql('DELETE FROM menu_layouts');
  });
  const app = (n: number) => apps[n % 2]!;

  it('no change of a colour is lost, the first of which stores the row', async () => {
    await times(COLOR_FIELDS.length, (n) => changeColors(app(n), { [COLOR_FIELDS[n]!]: `#${String(n).padStart(3, '0')}` }));
    const { colors } = await loadBranding(apps[0]!.db);
    expect(Object.values(colors)).toEqual(COLOR_FIELDS.map((_field, n) => `#${String(n).padStart(3, '0')}`));
  });

  it('no counter is lost, and the two switches of the animation agree', async () => {
    await Promise.all([
      changeCounters(app(0), { yandexMetrikaId: '1' }),
      changeCounters(app(1), { googleAdsId: 'AW-1' }),
      changeCounters(app(0), { googleAdsLabel: 'x' }),
      changeAnimation(app(1), { blur: 7 }),
      changeAnimation(app(0), { opacity: 0.5 }),
      ...Array.from({ length: 10 }, (_none, n) =>
        n % 3 ? switchAnimation(app(n), n % 2 === 0) : changeAnimation(app(n), { enabled: n % 2 === 0 }),
      ),
    ]);
    const { analytics, animation, isAnimationEnabled } = await loadBranding(apps[1]!.db);
    expect(analytics).toEqual({ yandexMetrikaId: '1', googleAdsId: 'AW-1', googleAdsLabel: 'x' });
    expect(animation).toMatchObject({ blur: 7, opacity: 0.5, enabled: isAnimationEnabled });
  });

  it('one logo remains of many, and its type fits its bytes', async () => {
    await times(10, (n) =>
      n === 5
        ? removeLogo(app(n))
        : replaceLogo(app(n), {
            kind: 'upload',
            filename: 'x',
            isTruncated: false,
            ...(n % 2
              ? { contentType: 'image/png', content: aPng(n + 1, 1) }
              : { contentType: 'image/svg+xml', content: Buffer.from(`<svg><text>${n}</text></svg>`) }),
          }),
    );
    const rows = await apps[0]!.db.sql<{ contentType: string; content: Uint8Array }>(
      'SELECT content_type, content FROM branding_images',
    );
    expect(rows.length).toBeLessThanOrEqual(1);
    for (const { contentType, content } of rows) {
      expect(Buffer.from(content).subarray(0, 4).toString('latin1')).toBe(contentType === 'image/png' ? '\x89PNG' : '<svg');
    }
  });

  it('no style of a section is lost', async () => {
    await times(CABINET_SECTIONS.length, (n) => changeButtonLooks(app(n), { [CABINET_SECTIONS[n]!]: { style: 'default' } }));
    expect(Object.values(await readButtonLooks(apps[0]!)).map((look) => look.style)).toEqual(
      CABINET_SECTIONS.map(() => 'default'),
    );
  });
});
