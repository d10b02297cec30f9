import { ENV_SCHEMA, namesOf } from '../src/core/env-schema.ts';
import { METHODS } from '../src/domain/payments/payment-methods.ts';
import { isSettingKey, type SettingKey, settingKeys } from '../src/domain/settings/catalogue/catalogue.ts';
import { listFiles, projectRoot, readFiles, type SourceText } from './checks/source-files.ts';
import { type Token, tokenize, withoutComments } from './checks/typescript-lexer.ts';

/** What lists all settings, renames them, plays an outside system or only tells of a setting does not make it work. */
const NO_READERS = /^src\/(domain\/(settings|import)|cli|rest\/descriptions)\/|^src\/core\/(env|word-forms)/;
/** Its keys begin with the name of a payment method. */
const BY_METHOD = 'src/composition/payment-providers.ts';
const METHOD_NAMES = METHODS.map(({ id }) => id.toUpperCase()).join('|');

/**
 * Where the source reads each setting: paths of files that name its key outside of comments, in a text, a template (`OAUTH_${name}_ENABLED`) or
 * as the key of a table. Settings that only the start reads, from the environment, have `src/core/env.ts`.
 */
export function settingReaders(): ReadonlyMap<SettingKey, readonly string[]> {
  const readers = new Map<SettingKey, Set<string>>(settingKeys.map((key) => [key, new Set()]));
  const files = listFiles(projectRoot, 'src').filter((path) => !NO_READERS.test(path));
  for (const file of readFiles(projectRoot, files)) {
    for (const key of keysIn(file)) readers.get(key)?.add(file.path);
  }
  for (const [name, variable] of Object.entries(ENV_SCHEMA.shape)) {
    for (const key of namesOf(name, variable)) if (isSettingKey(key)) readers.get(key)?.add('src/core/env.ts');
  }
  return new Map([...readers].map(([key, paths]) => [key, [...paths].sort()]));
}

function keysIn({ path, text }: SourceText): SettingKey[] {
  return keysOf(withoutComments(tokenize(text)), path === BY_METHOD ? `(?:${METHOD_NAMES})` : null);
}

/** @param names what stands for `${…}` at the begin of a template; null = such templates name no setting */
function keysOf(tokens: readonly Token[], names: string | null): SettingKey[] {
  return tokens.flatMap((token, index) => {
    if (token.parts) {
      const inside = token.parts.flatMap((part) => ('code' in part ? keysOf(part.code, names) : []));
      return [...inside, ...keysOfTemplate(token.parts, names)];
    }
    const isNamed = token.kind === 'string' || (token.kind === 'word' && tokens[index + 1]?.text === ':');
    if (!isNamed || !isSettingKey(token.text)) return [];
    // One word, `DEBUG` for example, may mean something else.
    const isRead = token.text.includes('_') || (tokens[index - 1]?.text === '(' && tokens[index - 2]?.text === 'get');
    return isRead ? [token.text] : [];
  });
}

function keysOfTemplate(parts: NonNullable<Token['parts']>, names: string | null): SettingKey[] {
  const pattern = parts.map((part, index) => ('text' in part ? part.text : index === 0 && names ? names : '[A-Z0-9_]+')).join('');
  const isKey = /^(?:\(\?:[A-Z0-9_|]+\)|[A-Z][A-Z0-9]+)_[A-Z0-9_[\]+-]*$/.test(pattern);
  return isKey ? settingKeys.filter((key) => new RegExp(`^${pattern}$`).test(key)) : [];
}
