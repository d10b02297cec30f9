import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** What a page must not do while somebody uses it. */

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Collects errors of the page, of its console, and requests that failed or were refused. @param isExpected for those a test provokes */
export function watch(page: Page, isExpected: (problem: string) => boolean = () => false): string[] {
  const problems: string[] = [];
  const add = (problem: string) => {
    if (!isExpected(problem)) problems.push(problem);
  };
  page.on('pageerror', (error) => add(`page: ${error}`));
  page.on('console', (message) => {
    // The browser repeats every refused request here, without its address.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) add(`console: ${message.text()}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // A page that is left aborts what it was loading.
    if (reason !== 'net::ERR_ABORTED') add(`failed: ${request.method()} ${request.url()} ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) add(`refused: ${response.status()} ${response.request().method()} ${response.url()}`);
  });
  return problems;
}

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** What axe finds against accessibility, one line for each element. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await readFile(AXE, 'utf8'));
  const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResult;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`));
}

/** Stores screenshots in SCREENSHOT_DIR; does nothing without it. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOT_DIR;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
