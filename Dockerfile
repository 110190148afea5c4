# The page in a container, as a plain user. Build it with the address of PyTorch's CPU index, or PyPI's torch brings
# several gigabytes of CUDA libraries along:
#   docker build --build-arg PIP_EXTRA_INDEX_URL=ADDRESS --tag attend .
#   docker run --publish 127.0.0.1:7860:7860 attend
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 attend
WORKDIR /home/attend/app

ARG PIP_EXTRA_INDEX_URL
COPY requirements.txt ./
RUN pip install --no-cache-dir --requirement requirements.txt

COPY LICENSE app.py attend.py generate.py ./
COPY checkpoints/ checkpoints/
COPY decoding/ decoding/
COPY lesson/ lesson/
COPY model/ model/
COPY terminal/ terminal/
COPY ui/ ui/
COPY web/ web/

USER attend
ENV PORT=7860
EXPOSE 7860
HEALTHCHECK --start-period=120s --timeout=5s \
  CMD ["python", "-c", "import os, urllib.request as web; web.urlopen(f\"http://127.0.0.1:{os.environ['PORT']}/healthz\")"]
ENTRYPOINT ["python", "app.py", "--host", "0.0.0.0"]
