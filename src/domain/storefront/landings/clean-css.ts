/**
 * Makes an administrator's style sheet fit for a page that strangers open (spec 03 H23). It may style, it may not leave its
 * `<style>` element, load anything but https images and fonts, or run anything.
 *
 * First everything that lets a word be spelled in other ways goes (escapes, markup, control characters), so that what follows sees
 * what a browser sees; then each forbidden word becomes a blank, never nothing, so that no new word grows from its neighbours.
 */
export function cleanCss(css: string): string {
  const plain = withoutEscapes(css)
    // Nothing closes the style element or opens a comment of the page around it.
    .replace(/[<\\]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
    .replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f]/g, '');
  return plain
    .replace(/@(?:import|charset|namespace)\b[^;{}]*;?/gi, ' ')
    .replace(/\bexpression\s*\(/gi, ' (')
    .replace(/(?:-moz-binding|\bbehaviou?r)\s*:/gi, ' x-removed:')
    .replace(/\b(url|src)\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*\)?/gi, (_whole, name: string, target: string) => keptUrl(name, target))
    .replace(/\b(?:javascript|vbscript|data|blob|file|ftp|http)\s*:/gi, ' ');
}

/** What escapes stand for, as a browser reads them. */
function withoutEscapes(css: string): string {
  return css.replace(
    /\\(?:([0-9a-f]{1,6})[ \t\n\f]?|\r?\n|([^0-9a-f]))/gi,
    (_whole, hex: string | undefined, sign: string | undefined) => {
      if (hex === undefined) return sign ?? '';
      const point = Number.parseInt(hex, 16);
      return point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? '' : String.fromCodePoint(point);
    },
  );
}

/** An https address without anything that could end it early; else an empty one. */
function keptUrl(name: string, target: string): string {
  const address = target.replace(/^["']|["']$/g, '').trim();
  return /^https:\/\/[^\s"'()<>{};]+$/i.test(address) ? `${name}("${address}")` : `${name}("")`;
}
