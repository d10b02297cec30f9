import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { shoot, violationsOf } from './watched-page.ts';

/** Steps of a customer in the example cabinet, in Russian. */
export interface CabinetVisit {
  /** Opens a view by the navigation and waits until nothing of it loads any more. */
  open(name: string): Promise<void>;
  settled(): Promise<void>;
  /** In both themes: nothing against accessibility, and nothing that went wrong before. The page is in the first theme again afterwards. */
  checked(name: string): Promise<void>;
  /** Pays on the payment page of the sandbox, which has no barrier and fits a telephone. @param start opens it */
  payOnPage(start: () => Promise<void>): Promise<void>;
}

/** @param problems what `watch` collects of the page */
export function visitOf(page: Page, problems: readonly string[]): CabinetVisit {
  const settled = () => expect.poll(() => page.locator('.loading').count()).toBe(0);
  return {
    settled,
    async open(name) {
      await page.getByRole('navigation', { name: 'Разделы' }).getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await settled();
    },
    async checked(name) {
      for (const theme of ['light', 'dark']) {
        await expect.poll(() => page.evaluate('document.documentElement.style.colorScheme')).toBe(theme);
        expect(await violationsOf(page), `${name}, ${theme}`).toEqual([]);
        await shoot(page, `cabinet-${name}-${theme}`);
        await page.getByTestId('theme').click();
      }
      expect(problems, name).toEqual([]);
    },
    async payOnPage(start) {
      const opened = page.context().waitForEvent('page');
      await start();
      const payPage = await opened;
      await payPage.setViewportSize({ width: 360, height: 740 });
      await payPage.locator('button.pay').waitFor();
      expect(await payPage.evaluate('document.documentElement.scrollWidth')).toBe(360);
      for (const colorScheme of ['light', 'dark'] as const) {
        await payPage.emulateMedia({ colorScheme });
        expect(await violationsOf(payPage), colorScheme).toEqual([]);
      }
      await payPage.locator('button.pay').click();
      await payPage.locator('button.refund').waitFor();
      await payPage.close();
    },
  };
}
