import { sampleOf } from '../matrix-sample.ts';
import { cloudpaymentsCase } from './cloudpayments-case.ts';
import { cryptobotCase } from './cryptobot-case.ts';
import { freekassaCase } from './freekassa-case.ts';
import { heleketCase } from './heleket-case.ts';
import { kassaAiCase } from './kassa-ai-case.ts';
import { mulenpayCase } from './mulenpay-case.ts';
import { pal24Case } from './pal24-case.ts';
import { plategaCase } from './platega-case.ts';
import type { ProviderCase } from './provider-case.ts';
import { riopayCase } from './riopay-case.ts';
import { severpayCase } from './severpay-case.ts';
import { tributeCase } from './tribute-case.ts';
import { wataCase } from './wata-case.ts';
import { yookassaCase } from './yookassa-case.ts';

/** Every provider with a wire of its own; the tables of tests run over all of them. */
export const PROVIDER_CASES: readonly ProviderCase[] = [
  cryptobotCase,
  yookassaCase,
  freekassaCase,
  kassaAiCase,
  severpayCase,
  heleketCase,
  mulenpayCase,
  pal24Case,
  cloudpaymentsCase,
  tributeCase,
  plategaCase,
  riopayCase,
  wataCase,
];

/** For `describe.each`, each with its method as the name: a sample of them in `npm test`. */
export const sampledProviders = (cases = PROVIDER_CASES) =>
  sampleOf(cases, ({ method }) => method).map((provider) => [provider.method, provider] as const);
