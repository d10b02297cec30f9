/** Names of the interface in the words of a client (spec 09 section 1), as the existing product has them too (spec 07 section 3). */
import type { WordPair } from './env-values.ts';

/** Names that clients of one product have in another form than the rule gives: by word of the client, ours and theirs. */
const IRREGULAR: Record<string, Readonly<Record<string, string>>> = {
  remnawave: { CABINET_VPNPANEL_SUB_CONFIG: 'CABINET_REMNA_SUB_CONFIG' },
};

/** Capitals within a word, where a client's product is spelled so. */
const CAMEL_WORDS: Readonly<Record<string, string>> = { remnawave: 'RemnaWave' };

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Our spelling with two capitals, which names of schemas and tags have. */
const OUR_CAMEL_WORDS: Readonly<Record<string, string>> = { vpnpanel: 'VpnPanel' };

export interface WordForms {
  /** The name in the client's words; the name itself where it has none of ours. */
  rename(name: string): string;
  /** As `rename`, without the fixed pairs: a form that is accepted besides. */
  renameRegularly(name: string): string;
}

export function wordForms(pairs: readonly WordPair[]): WordForms {
  const forms = new Map<string, string>();
  const irregular = new Map<string, string>();
  for (const { client, ours } of pairs) {
    const camel = OUR_CAMEL_WORDS[ours];
    if (camel !== undefined) forms.set(camel, CAMEL_WORDS[client] ?? capitalised(client));
    forms.set(ours, client);
    forms.set(capitalised(ours), capitalised(client));
    forms.set(ours.toUpperCase(), client.toUpperCase());
    for (const [name, fixed] of Object.entries(IRREGULAR[client] ?? {})) {
      if (name.includes(ours.toUpperCase())) irregular.set(name, fixed);
    }
  }
  const longestFirst = [...forms.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.join('|'), 'g');
  const renameRegularly = (name: string): string => name.replace(pattern, (word) => forms.get(word) ?? word);
  return { renameRegularly, rename: (name) => irregular.get(name) ?? renameRegularly(name) };
}
