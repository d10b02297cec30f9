import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderMail } from '../../src/domain/messaging/render-mail.ts';
import { TEMPLATE_TYPES } from '../../src/domain/messaging/templates/template-variables.ts';
import { previewTemplate, sampleValues } from '../../src/domain/messaging/templates/templates.ts';
import { type Chromium, findChromium, startChromium } from '../support/chromium.ts';

/** Mails as a browser shows them: every built-in one, light and dark, wide and narrow. Screenshots are left in `.tmp/mail-pages`. */

const SHOTS = join(import.meta.dirname, '..', '..', '.tmp', 'mail-pages');
const FRAME = { serviceName: 'Example & Co', cabinetUrl: 'https://cabinet.example.com' };
const WITHOUT = 'there is no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)';
/** Of WCAG 2, level AA. */
const LEAST_CONTRAST = 4.5;

const executable = findChromium();
let browser: Chromium | undefined;
let page: Page;
beforeAll(async () => {
  if (executable === null) return;
  await mkdir(SHOTS, { recursive: true });
  browser = await startChromium(executable);
  page = browser.context.pages()[0] ?? (await browser.context.newPage());
});
afterAll(() => browser?.close());

interface Seen {
  text: string;
  background: string;
  overflow: number;
  /** The least contrast of a text to what is behind it. */
  contrast: number;
}

/** Runs in the page, which has no types of the DOM here. */
const LOOK = `(() => {
  const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const written = [...document.body.querySelectorAll('*')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''));
  const contrasts = written.map((element) => {
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return {
    text: document.body.innerText,
    background: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    contrast: Math.min(...contrasts),
  };
})()`;

async function show(html: string, colorScheme: 'light' | 'dark', width: number): Promise<Seen> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 700 });
  await page.setContent(html);
  return (await page.evaluate(LOOK)) as Seen;
}

describe('spec 05 section 11: mails in a browser', () => {
  it.for(TEMPLATE_TYPES.flatMap((type) => ['ru', 'en'].map((language) => [type, language] as const)))(
    '%s in %s is readable, light and dark, wide and narrow',
    async ([type, language], { skip }) => {
      if (executable === null) skip(WITHOUT);
      const mail = renderMail(language, type, { ...sampleValues(type), username: 'N'.repeat(120) }, FRAME);
      const backgrounds = new Set<string>();
      for (const scheme of ['light', 'dark'] as const) {
        for (const width of [1180, 340]) {
          const seen = await show(mail.html, scheme, width);
          backgrounds.add(seen.background);
          expect(seen.overflow, `${scheme} ${width}`).toBe(0);
          expect(seen.contrast, `${scheme} ${width}`).toBeGreaterThanOrEqual(LEAST_CONTRAST);
          expect(seen.text).toContain('Example & Co');
          expect(seen.text).not.toMatch(/[{}]|undefined/);
        }
        await page.screenshot({ path: join(SHOTS, `${type}-${language}-${scheme}.png`), fullPage: true });
      }
      expect(backgrounds.size).toBe(2);
    },
  );

  it('a preview runs nothing, even in a frame without a sandbox', async ({ skip }) => {
    if (executable === null) skip(WITHOUT);
    const active = `<script>top.ran = 'script'</script><img src="data:," onerror="top.ran = 'handler'"><p id="shown">Text</p>`;
    const app = { settings: { get: (key: string) => (key === 'SMTP_FROM_NAME' ? 'Example' : null) } };
    const run = async (html: string) => {
      await page.setContent('<iframe></iframe>');
      await page.evaluate(`globalThis.ran = null; document.querySelector('iframe').srcdoc = ${JSON.stringify(html)}`);
      await page.frameLocator('iframe').locator('#shown').waitFor();
      // The handler of a picture runs after the frame is loaded.
      await page.evaluate(`new Promise((done) => { const frame = document.querySelector('iframe');
        frame.contentDocument.readyState === 'complete' ? done() : frame.addEventListener('load', done); })`);
      return page.evaluate('globalThis.ran');
    };
    expect(await run(active)).not.toBeNull();
    for (const body of [active, `<!doctype html><html><head></head><body>${active}</body></html>`, `<html>${active}`]) {
      const input = { notificationType: 'traffic_reset', language: 'en', subject: '', bodyHtml: body };
      expect(await run(previewTemplate(app as never, input).bodyHtml)).toBeNull();
    }
  });
});
