import type cytoscape from 'cytoscape';
import { useEffect, useRef, useState } from 'react';
import { Panel, Table } from './panel.tsx';
import { client } from './service.ts';
import { count, money, useLanguage, useTexts } from './texts.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

type Network = Awaited<ReturnType<typeof client.admin.referralNetwork.graph.query>>;

/** A list for eyes; the graph itself has every node. */
const ROWS = 20;

/** Who invited whom: as a picture, and as a list for keyboards and screen readers. */
export function ReferralNetwork() {
  const texts = useTexts();
  const language = useLanguage();
  const [campaignId, setCampaignId] = useState<number | null>(null);
  const { referralNetwork } = client.admin;
  const scopes = useLoaded(() => referralNetwork.scopeOptions.query());
  const network = useLoaded(
    () => (campaignId === null ? referralNetwork.graph.query() : referralNetwork.scoped.query({ campaign_ids: [campaignId] })),
    campaignId,
  );
  // Larger than everything else of the page, so only who opens this view loads it.
  const drawing = useLoaded(() => import('cytoscape').then((library) => library.default));
  const picture: Loaded<{ value: Network; draw: typeof cytoscape }> = {
    value: network.value && drawing.value && { value: network.value, draw: drawing.value },
    error: network.error ?? drawing.error,
    reload: () => {
      network.reload();
      drawing.reload();
    },
  };
  const isEmpty = (value: Network) => (value.users.length + value.campaigns.length === 0 ? texts.nothing : null);

  return (
    <>
      <label className="inline">
        {texts.scope}
        <select
          value={campaignId ?? ''}
          onChange={(event) => setCampaignId(event.target.value ? Number(event.target.value) : null)}
        >
          <option value="">{texts.everyone}</option>
          {scopes.value?.campaigns.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div className="grid">
        <Panel title={texts.networkGraph} loaded={picture} empty={({ value }) => isEmpty(value)} isWide>
          {({ value, draw }) => (
            <>
              <p className="soft">{texts.networkExplained}</p>
              <Graph network={value} draw={draw} />
            </>
          )}
        </Panel>
        <Panel title={texts.people} loaded={network} empty={isEmpty} isWide>
          {(value) => (
            <Table
              caption={texts.people}
              columns={[texts.name, texts.referredBy, `#${texts.invited}`, `#${texts.revenue}`]}
              rows={[...value.users]
                .sort((a, b) => b.direct_referrals - a.direct_referrals)
                .slice(0, ROWS)
                .map((user) => ({
                  key: user.id,
                  cells: [
                    <a key="name" href={`#/users/${user.id}`}>
                      {user.display_name}
                    </a>,
                    value.users.find(({ id }) => id === user.referrer_id)?.display_name ??
                      value.campaigns.find(({ id }) => id === user.campaign_id)?.name ??
                      '',
                    count(user.direct_referrals, language),
                    money(user.branch_revenue_kopeks, language),
                  ],
                }))}
            />
          )}
        </Panel>
      </div>
    </>
  );
}

/** Colours of the page at this time; the picture is drawn again with the page. */
function styleOf(element: HTMLElement): cytoscape.StylesheetJson {
  // Custom properties with `light-dark` are resolved on properties that have a colour only.
  const colour = (name: string) => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const [ink, soft, accent, campaign] = ['--ink', '--line', '--accent', '--warm'].map(colour) as [string, string, string, string];
  return [
    {
      selector: 'node',
      style: {
        label: 'data(label)',
        color: ink,
        'font-size': 10,
        'background-color': accent,
        width: 'data(size)',
        height: 'data(size)',
      },
    },
    { selector: 'node[kind = "campaign"]', style: { shape: 'round-rectangle', 'background-color': campaign } },
    {
      selector: 'edge',
      style: {
        width: 1.5,
        'line-color': soft,
        'target-arrow-color': soft,
        'target-arrow-shape': 'triangle',
        'curve-style': 'bezier',
      },
    },
  ];
}

function elementsOf({ users, campaigns, edges }: Network): cytoscape.ElementDefinition[] {
  const size = (people: number) => 14 + Math.min(26, Math.sqrt(people) * 6);
  const nodes = [
    ...users.map((user) => ({
      data: { id: `user_${user.id}`, label: user.display_name, kind: 'user', size: size(user.direct_referrals) },
    })),
    ...campaigns.map((one) => ({
      data: { id: `campaign_${one.id}`, label: one.name, kind: 'campaign', size: size(one.total_network_users) },
    })),
  ];
  const known = new Set(nodes.map(({ data }) => data.id));
  const lines = edges
    .filter(({ source, target }) => known.has(source) && known.has(target))
    .map(({ source, target }) => ({ data: { id: `${source}-${target}`, source, target } }));
  return [...nodes, ...lines];
}

function Graph({ network, draw }: { network: Network; draw: typeof cytoscape }) {
  const texts = useTexts();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const graph = draw({
      container: element,
      elements: elementsOf(network),
      style: styleOf(element),
      layout: { name: 'cose', animate: false, randomize: false },
      maxZoom: 2,
      // A page that scrolls under the pointer must not change the picture.
      userZoomingEnabled: false,
    });
    graph.on('tap', 'node[kind = "user"]', (event) => {
      location.hash = `#/users/${String(event.target.id()).slice('user_'.length)}`;
    });
    element.dataset.nodes = String(graph.nodes().length);
    element.dataset.edges = String(graph.edges().length);
    // Another theme has other colours.
    const observer = new MutationObserver(() => graph.style(styleOf(element)));
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
    return () => {
      observer.disconnect();
      graph.destroy();
    };
  }, [network, draw]);
  return <div className="graph" ref={box} role="img" aria-label={texts.networkGraph} data-testid="graph" />;
}
