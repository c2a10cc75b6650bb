/** Where a step can go, as far as the gateway has it. */
export interface TourPlaces {
  readonly endpoint: { readonly workspace: string; readonly name: string } | null;
  readonly request: string | null;
}

export interface TourStep {
  readonly title: string;
  readonly text: string;
  /** The address of its page. */
  readonly path: (places: TourPlaces) => string;
  /** What it is about: a selector. */
  readonly target: string;
}

const endpointPath = ({ endpoint }: TourPlaces, rest: string) =>
  endpoint === null
    ? '/'
    : `/endpoints/${encodeURIComponent(endpoint.workspace)}/${encodeURIComponent(endpoint.name)}${rest}`;

/** Five pages that show what the product is for. */
export const TOUR: readonly TourStep[] = [
  {
    title: 'The fleet, as it is now',
    text: 'Requests per second, time to first token, errors, and every endpoint. All of it moves: the page follows the gateway.',
    path: () => '/',
    target: '.stats',
  },
  {
    title: 'Replicas under load',
    text: 'Requests in flight, queue and KV cache of each replica. A replica that does not serve says why.',
    path: (places) => endpointPath(places, ''),
    target: '.card',
  },
  {
    title: 'Why this replica?',
    text: 'Every request has its life as a waterfall, the score of each candidate as the policy saw it, and the smallest change that would have flipped the choice.',
    path: ({ request }) => (request === null ? '/requests' : `/requests/${encodeURIComponent(request)}`),
    target: '.scores, .table-place',
  },
  {
    title: 'Another policy, in the shadow',
    text: 'A shadow decides about the same requests and changes nothing. See how often it agrees, and add one of your own.',
    path: (places) => endpointPath(places, '?tab=shadows'),
    target: '.readings',
  },
  {
    title: 'What if?',
    text: 'The traffic is recorded, without any text. Ask what another policy or another number of replicas would have made of it: the result comes with its error, and claims nothing that may be chance. It needs 200 requests, about a minute of the demo.',
    path: () => '/whatif?policy=lmetric',
    target: 'form .button-primary',
  },
];
