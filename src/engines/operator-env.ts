/**
 * Variables that operators may set for any engine written in Python: they choose neither code nor addresses. The token is the
 * operator's own, for models that the engine downloads.
 */
export const PYTHON_ENGINE_ENV = [
  'HF_TOKEN',
  'HF_HUB_OFFLINE',
  'HF_HUB_DOWNLOAD_TIMEOUT',
  'HF_HUB_ENABLE_HF_TRANSFER',
  'TRANSFORMERS_OFFLINE',
  'TRANSFORMERS_VERBOSITY',
  'TOKENIZERS_PARALLELISM',
  'PYTORCH_CUDA_ALLOC_CONF',
  'OMP_NUM_THREADS',
  'NCCL_DEBUG',
  'PYTHONUNBUFFERED',
  'TZ',
] as const;
