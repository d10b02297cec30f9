import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The browser must not send requests of its own to the network. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-quic',
  '--no-first-run',
  '--disable-component-update',
  '--disable-sync',
];

/** The machine's Chromium: that of `CHROMIUM_PATH`, else at one of the usual paths. @returns null when it is not installed */
export function findChromium(): string | null {
  const named = process.env.CHROMIUM_PATH;
  return (named ? [named] : PLACES).find((path) => existsSync(path)) ?? null;
}

/** The time limits only end what hangs. */
const PATIENT_MS = 180_000;

export interface Chromium {
  context: BrowserContext;
  close(): Promise<void>;
}

/** Starts a browser with an empty profile. */
export async function startChromium(executablePath: string): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: ARGUMENTS,
    viewport: { width: 1180, height: 860 },
    locale: 'ru-RU',
    timeout: PATIENT_MS,
  });
  context.setDefaultTimeout(PATIENT_MS);
  return {
    context,
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
