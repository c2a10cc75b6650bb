import { isProduct } from '../../runner/gpu-demand.js';
import { bundledGpuMemories } from './bundled-catalogue.js';

/** The GPU of the catalogue that a product is, with the most exact name: H100 for `NVIDIA H100 80GB HBM3`; else the product. */
export function gpuName(product: string): string {
  // As drivers spell it: `A100-SXM4-80GB` is the catalogue's A100-SXM.
  const spelled = product.replace(/\b(\d+)GB\b/gi, '$1').replace(/\bSXM\d\b/gi, 'SXM');
  const known = [...bundledGpuMemories().keys()].filter((name) => isProduct({ product: spelled }, name));
  const [best] = known.sort((a, b) => b.length - a.length);
  return best ?? product.replace(/[^\w.+-]+/g, '-').slice(0, 63);
}
