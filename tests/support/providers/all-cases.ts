import { cryptobotCase } from './cryptobot-case.ts';
import { plategaCase } from './platega-case.ts';
import type { ProviderCase } from './provider-case.ts';
import { riopayCase } from './riopay-case.ts';
import { wataCase } from './wata-case.ts';
import { yookassaCase } from './yookassa-case.ts';

/** Every provider with a wire of its own; the tables of tests run over all of them. */
export const PROVIDER_CASES: readonly ProviderCase[] = [cryptobotCase, yookassaCase, plategaCase, riopayCase, wataCase];
