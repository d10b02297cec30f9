import type { FakeWire } from '../fake-wire.ts';
import { cryptobotWire } from './cryptobot-wire.ts';
import { plategaWire } from './platega-wire.ts';
import { riopayWire } from './riopay-wire.ts';
import { sandboxWire } from './sandbox-wire.ts';
import { wataWire } from './wata-wire.ts';
import { yookassaWire } from './yookassa-wire.ts';

const WIRES: readonly FakeWire[] = [sandboxWire, cryptobotWire, yookassaWire, plategaWire, riopayWire, wataWire];

/** The wire of every fake provider by its method. */
export const FAKE_WIRES: ReadonlyMap<string, FakeWire> = new Map(WIRES.map((wire) => [wire.method, wire]));
