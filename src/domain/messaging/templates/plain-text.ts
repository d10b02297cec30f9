/**
 * The text of HTML that administrators wrote, for mail readers without HTML: links are followed by their address, blocks end a line.
 * One pass with a time linear in the length for any input, because mails are written while a sale holds locks.
 */
export function plainText(html: string): string {
  const lower = html.toLowerCase();
  const out: string[] = [];
  const links: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    out.push(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open);
      continue;
    }
    const close = html.indexOf('>', open);
    if (close < 0) {
      at = open;
      break;
    }
    const tag = html.slice(open, close + 1);
    const name = /^<\/?([a-z][a-z0-9]*)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
    at = close + 1;
    if (HIDDEN.has(name) && tag[1] !== '/') at = after(lower, `</${name}>`, at);
    else if (name === 'a' && tag[1] !== '/') links.push(addressOf(tag));
    else if (name === 'a') out.push(suffixOf(links.pop() ?? '', out));
    else if (name === 'br' || (tag[1] === '/' && BLOCKS.test(name))) out.push('\n');
  }
  out.push(html.slice(at));
  return decode(out.join(''))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const HIDDEN: ReadonlySet<string> = new Set(['style', 'script', 'head', 'title']);
const BLOCKS = /^(?:p|div|h\d|li|tr)$/;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&', nbsp: ' ' };

/** Behind the next `mark`, or at the end of the text. */
function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

function addressOf(tag: string): string {
  const found = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i.exec(tag);
  return (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
}

/** The address behind a link's text, unless the text is the address. */
function suffixOf(address: string, out: readonly string[]): string {
  return address === '' || out.at(-1)?.trim() === address ? '' : ` (${address})`;
}

function decode(text: string): string {
  return text.replace(/&(lt|gt|quot|#39|amp|nbsp);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
