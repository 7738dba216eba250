import { readFileSync, writeFileSync } from "node:fs";
import * as chains from "viem/chains";

/**
 * Renews assets/well-known-chains.json from viem's list of chains: `npm run generate:chains`.
 * Raise viem's version in package.json beforehand, and read the diff.
 */

/** The chains that indexers commonly serve, in the order of the table: `slug=export` where viem's name for it is another one. */
const MAINNETS = `
abstract ancient8 apechain=apeChain arbitrum arbitrum-nova astar aurora avalanche base beam berachain bitlayer blast bob boba
botanix bsc celo chiliz codex core=coreDao corn cronos cyber degen ethereum=mainnet ethereum-classic=classic etherlink evmos
fantom filecoin flare flow=flowMainnet form fraxtal funki=funkiMainnet fuse gnosis gravity harmony=harmonyOne hashkey hemi
hyperevm=hyperEvm immutable=immutableZkEvm injective ink iotex kaia katana kava lens lightlink=lightlinkPhoenix linea lisk lukso
lumia=lumiaMainnet manta mantle megaeth merlin metal-l2=metalL2 metis mezo mint mode monad moonbeam moonriver morph
neon=neonMainnet nibiru oasys opbnb=opBNB optimism peaq plasma plume=plumeMainnet polygon polygon-zkevm=polygonZkEvm pulsechain
redstone robinhood ronin root rootstock rss3 sanko sapphire scroll sei shape shibarium snax somnia soneium songbird sonic sophon
stable story superposition superseed swellchain syscoin tac taiko telos tempo treasure tron unichain vana viction wemix
worldchain x-layer xai xdc xrpl-evm=xrplevm zetachain zircuit zklink-nova=zkLinkNova zksync zora
`;
const TESTNETS = `
abstract-testnet apechain-curtis=curtis arbitrum-sepolia avalanche-fuji base-sepolia berachain-bepolia blast-sepolia bob-sepolia
boba-sepolia bsc-testnet celo-sepolia chiliz-spicy=spicy cronos-testnet etherlink-testnet flow-testnet form-testnet
fraxtal-testnet gnosis-chiado hemi-sepolia holesky hoodi immutable-testnet=immutableZkEvmTestnet ink-sepolia iotex-testnet
kaia-kairos=kairos lens-testnet lightlink-pegasus linea-sepolia lisk-sepolia lukso-testnet mantle-sepolia=mantleSepoliaTestnet
megaeth-testnet metis-sepolia mode-testnet monad-testnet moonbase-alpha opbnb-testnet=opBNBTestnet optimism-sepolia
plasma-testnet polygon-amoy ronin-saigon=saigon rootstock-testnet scroll-sepolia sei-testnet sepolia shape-sepolia somnia-testnet
soneium-minato sonic-testnet sophon-testnet story-aeneid superseed-sepolia swellchain-testnet taiko-hoodi tempo-testnet
treasure-topaz unichain-sepolia worldchain-sepolia xdc-apothem=xdcTestnet xrpl-evm-testnet=xrplevmTestnet
zetachain-testnet=zetachainAthensTestnet zircuit-garfield=zircuitGarfieldTestnet zksync-sepolia=zksyncSepoliaTestnet zora-sepolia
`;

/** Milliseconds between blocks that viem does not have, as the chains' own documents give them. */
const MORE_BLOCK_TIMES: Readonly<Record<string, number>> = {
  chiliz: 3000,
  form: 2000,
  holesky: 12000,
  hoodi: 12000,
  iotex: 2500,
  morph: 4000,
  sei: 400,
  sepolia: 12000,
  xdc: 2000,
};

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly dependencies: { readonly viem: string };
};
const rows = [...rowsOf(MAINNETS, false), ...rowsOf(TESTNETS, true)];
const file = new URL("../../assets/well-known-chains.json", import.meta.url);
const text = `{
  "source": "viem ${dependencies.viem}, by tools/chains/generate.ts",
  "date": "${new Date().toISOString().slice(0, 10)}",
  "chains": [
${rows.join(",\n")}
  ]
}
`;
writeFileSync(file, text);

function rowsOf(list: string, testnet: boolean): readonly string[] {
  return list
    .trim()
    .split(/\s+/)
    .map((item) => {
      const [slug = "", name = slug.replace(/-./g, ([, letter = ""]) => letter.toUpperCase())] =
        item.split("=");
      const chain = (chains as Readonly<Record<string, chains.Chain | undefined>>)[name];
      if (chain === undefined || (chain.testnet ?? false) !== testnet) {
        throw new RangeError(
          `Cannot add ${item}: found ${chain === undefined ? "no such chain" : "the other kind"}`,
        );
      }
      const blockTimeMs = chain.blockTime ?? MORE_BLOCK_TIMES[slug] ?? null;
      const explorer = chain.blockExplorers?.default.url.replace(/\/+$/, "") ?? null;
      return `    ${JSON.stringify([chain.id, slug, chain.name, blockTimeMs, testnet, explorer]).replaceAll(",", ", ")}`;
    });
}
