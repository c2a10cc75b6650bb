import { describe, expect, it } from 'vitest';
import { readKubeTarget } from './kube-target.js';

describe('readKubeTarget', () => {
  it('reads a selector with commas, and the options around it', () => {
    expect(readKubeTarget('selector=app=vllm,tier in (a,b),!old,namespace=prod,port=8000+8001')).toEqual({
      ...{ by: 'selector', value: 'app=vllm,tier in (a,b),!old', namespace: 'prod', ports: ['8000', '8001'] },
      ...{ kubeconfig: null, context: null },
    });
    expect(readKubeTarget('port=http,service=vllm')).toMatchObject({ by: 'service', value: 'vllm', ports: ['http'] });
    expect(readKubeTarget('pool=chat,kubeconfig=/a/b,context=c')).toMatchObject({
      ...{ by: 'pool', value: 'chat', kubeconfig: '/a/b', context: 'c', ports: [] },
    });
  });

  it.each([
    ['namespace=prod', 'does not say what to look for'],
    ['service=a,pool=b', 'has both service and pool'],
    ['service=', 'service is empty'],
    ['service=A B', "'A B' is not a name in Kubernetes"],
    ['service=a,colour=red', "'colour=red' is not a part of a target"],
    ['service=a,service=b', 'has service twice'],
    ['service=a,port=99999', "'99999' is not a port"],
    ['service=a,namespace=_', "'_' is not a namespace"],
    ['pool=a,port=8000', 'a pool declares its ports itself'],
  ])('refuses %s', (text, problem) => {
    expect(() => readKubeTarget(text)).toThrow(`--kube ${text}: ${problem}; give selector=app=NAME`);
  });
});
