// In the manner of CuPy's raw kernels: pointers and numbers one by one, and nothing of this
// library.
extern "C" __global__ void mandelbrot(const float* re, const float* im, int* steps, int limit,
                                      long long n) {
  const long long i = blockDim.x * (long long)blockIdx.x + threadIdx.x;
  if (i >= n) return;
  float x = 0, y = 0;
  int count = 0;
  while (count < limit && x * x + y * y <= 4) {
    const float next = x * x - y * y + re[i];
    y = 2 * x * y + im[i];
    x = next;
    ++count;
  }
  steps[i] = count;
}
