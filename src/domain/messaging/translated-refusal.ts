import { type Refusal, refusal } from '../../core/errors.ts';
import { type TextKey, text } from './texts.ts';

/** A refusal that is a sentence in the language of its reader, which the factory gets. */
export function translatedRefusal(code: string, status: number, key: TextKey): Refusal<[language: string | null | undefined]> {
  return refusal(code, status, text('en', key), (language: string | null | undefined) => ({ detail: text(language, key) }));
}
