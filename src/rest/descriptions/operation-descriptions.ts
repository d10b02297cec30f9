/** The text of each operation: what it does, what it changes outside, idempotency. The key is `METHOD /path`. */
import { mergeTexts } from './merge-texts.ts';

export const OPERATION_DESCRIPTIONS = mergeTexts([]);
