import { LANGUAGES, type Language } from '../domain/messaging/texts.ts';

/** More entries than any browser sends. */
const MAX_ENTRIES = 20;

/** The first known language of an `Accept-Language` header by its weights; null when there is none (RFC 9110 section 12.5.4). */
export function preferredLanguage(header: string | undefined): Language | null {
  const entries = (header ?? '').split(',', MAX_ENTRIES).map((entry) => {
    const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    return { language: LANGUAGES.find((known) => known === tag.split('-', 1)[0]), weight: Number.isNaN(weight) ? 0 : weight };
  });
  const [best] = entries.filter(({ language, weight }) => language && weight > 0).sort((a, b) => b.weight - a.weight);
  return best?.language ?? null;
}
